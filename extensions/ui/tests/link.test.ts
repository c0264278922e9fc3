import { expect, it } from "vitest";
import { Link, type Channel, type ChannelEvent } from "../src/protocol/link";
import type { Frame } from "../src/protocol/types";

/** A channel whose other end is the test. */
class Wire implements Channel {
  sent: Record<string, unknown>[] = [];
  listeners = new Set<(message: unknown) => void>();

  send(content: unknown): void {
    this.sent.push(content as Record<string, unknown>);
  }
  on(event: ChannelEvent, callback: (message: unknown) => void): void {
    if (event === "msg:custom") this.listeners.add(callback);
  }
  off(_: ChannelEvent, callback: (message: unknown) => void): void {
    this.listeners.delete(callback);
  }
  arrive(frame: unknown): void {
    for (const listener of this.listeners) listener(frame);
  }
}

it("matches each reply to its request and hands on every other frame", async () => {
  const wire = new Wire();
  const heard: Frame[] = [];
  const link = new Link(wire, (frame) => heard.push(frame));
  const first = link.request<"sessions">("sessions", { query: "a" });
  const second = link.request<"commands">("commands");
  const [one, two] = wire.sent;
  expect(one).toMatchObject({ type: "control", name: "sessions", args: { query: "a" } });
  wire.arrive({ type: "reply", id: two?.id, reply: { kind: "commands", commands: [] } });
  wire.arrive({ type: "message", id: "m", text: "hi", reply_to: "", failed: false, hint: "" });
  wire.arrive({ type: "reply", id: one?.id, reply: { kind: "sessions", sessions: [] } });
  expect(await second).toEqual({ kind: "commands", commands: [] });
  expect(await first).toEqual({ kind: "sessions", sessions: [] });
  expect(heard).toHaveLength(1);
});

it("stops listening when closed", () => {
  const wire = new Wire();
  new Link(wire, () => undefined).close();
  expect(wire.listeners.size).toBe(0);
});

it("hands on a reply nobody waits for: an ask that was refused", () => {
  const wire = new Wire();
  const heard: Frame[] = [];
  new Link(wire, (frame) => heard.push(frame));
  const reply = { kind: "told", text: "closed", failed: true, hint: "" };
  wire.arrive({ type: "reply", id: "ask-1", reply });
  expect(heard).toEqual([{ type: "reply", id: "ask-1", reply }]);
});
