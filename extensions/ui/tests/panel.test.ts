import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, expect, it } from "vitest";
import Chat from "../src/chat/Chat.svelte";
import type { Channel, ChannelEvent } from "../src/protocol/link";
import type { Block, Frame, Reply, Turn } from "../src/protocol/types";
import { USAGE } from "./usage";

function turn(id: string, blocks: Block[] = [], over: Partial<Turn> = {}): Turn {
  const head = { revision: 1, state: "completed" as const, model: "m", usage: USAGE, seconds: 1 };
  const names = { turn_id: id, message_id: `m-${id}`, session: "s", prompt: `prompt ${id}` };
  return { ...head, ...names, started_at: null, blocks, ...over };
}

/** A runtime with one dialog. */
class Runtime implements Channel {
  sent: Record<string, any>[] = [];
  turns: Turn[] = [];
  private hear: (message: unknown) => void = () => undefined;
  private end: (message: unknown) => void = () => undefined;

  on(event: ChannelEvent, callback: (message: unknown) => void): void {
    if (event === "msg:custom") this.hear = callback;
    else this.end = callback;
  }
  restart(): void {
    this.end(undefined);
  }
  off(): void {
    this.hear = () => undefined;
  }
  send(content: unknown): void {
    const message = content as Record<string, any>;
    this.sent.push(message);
    const reply = message.type === "control" ? this.answer(message.name, message.args) : null;
    if (reply) queueMicrotask(() => this.tell({ type: "reply", id: message.id, reply }));
  }
  tell(frame: Frame): void {
    this.hear(frame);
  }
  private answer(name: string, args: Record<string, any>): Reply {
    switch (name) {
      case "history":
        return { kind: "history", session: "s", title: "T", turns: this.turns.slice(-args.limit) };
      case "sessions":
        return { kind: "sessions", sessions: [] };
      case "commands":
        return { kind: "commands", commands: [] };
      case "providers":
        return {
          kind: "providers",
          current: "openai/gpt-4o",
          providers: [
            { name: "openai", state: "reached", models: ["openai/gpt-4o", "openai/x"] },
            { name: "groq", state: "not connected", models: [] },
          ],
          cards: [
            {
              name: "openai/gpt-4o",
              context_window: 128_000,
              price_in: 2.5,
              price_out: 10,
              capabilities: ["tools"],
            },
          ],
        };
      case "status":
        return {
          kind: "status",
          session: "s",
          title: "T",
          model: "gpt-4o",
          provider: "openai",
          provider_note: "",
          context_tokens: 10,
          context_window: 100,
          usage: USAGE,
        };
      default:
        return { kind: "told", text: "done", failed: false, hint: "" };
    }
  }
}

/** jsdom has no layout, so no size ever changes. */
class NoSizes {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
globalThis.ResizeObserver ??= NoSizes;

let view: Record<string, unknown> | undefined;

async function open(runtime: Runtime): Promise<HTMLElement> {
  const target = document.createElement("div");
  document.body.append(target);
  view = mount(Chat, { target, props: { channel: runtime } });
  await settled();
  return target;
}
async function settled(): Promise<void> {
  for (let round = 0; round < 5; round++) await tick();
  await new Promise((resolve) => setTimeout(resolve, 5));
  flushSync();
}
function button(place: HTMLElement, words: string): HTMLButtonElement {
  const found = [...place.querySelectorAll("button")].find((b) => b.textContent?.includes(words));
  if (!found) throw new Error(`no button ${words}`);
  return found;
}

afterEach(() => {
  if (view) void unmount(view);
  document.body.replaceChildren();
});

it("keeps only the newest turns of a long dialog in the page, and loads older ones on demand", async () => {
  const runtime = new Runtime();
  runtime.turns = Array.from({ length: 1000 }, (_, n) => turn(`t${n}`));
  const panel = await open(runtime);
  const asked = () => [...panel.querySelectorAll(".octo-ask")].map((node) => node.textContent);
  expect(asked()).toHaveLength(20);
  expect(asked().at(-1)).toBe("prompt t999");
  for (let press = 0; press < 5; press++) {
    button(panel, "Show earlier").click();
    await settled();
  }
  expect(asked()).toHaveLength(120);
  expect(asked()[0]).toBe("prompt t880");
  runtime.tell({ type: "turn", turn: turn("t1000") });
  await settled();
  expect(asked()).toHaveLength(120);
});

it("settles an approval with the words of the button, once", async () => {
  const runtime = new Runtime();
  const panel = await open(runtime);
  const call: Block = {
    kind: "tool",
    call_id: "c",
    name: "python",
    arguments: '{"code":"1 + 1"}',
    state: "asking",
    output: "",
    seconds: null,
    media: [],
    approval_id: "a1",
    detail: "1 + 1",
    risk: "execute",
  };
  runtime.tell({ type: "turn", turn: turn("t1", [call], { state: "running" }) });
  await settled();
  expect(button(panel, "Always allow")).toBeTruthy();
  button(panel, "Allow for this session").click();
  button(panel, "Deny").click();
  await settled();
  const settles = runtime.sent.filter((message) => message.name === "settle");
  expect(settles.map((message) => message.args)).toEqual([
    { approval_id: "a1", decision: "session" },
  ]);
});

it("asks for the whole turn when a patch does not fit", async () => {
  const runtime = new Runtime();
  await open(runtime);
  const head = { revision: 9, state: "running" as const, model: "", usage: USAGE, seconds: null };
  runtime.tell({ type: "patch", turn_id: "t7", base: 8, ops: [], ...head });
  expect(runtime.sent.at(-1)).toEqual({ type: "whole", turn_id: "t7" });
});

it("shows a refused message with its next step and stops waiting for it", async () => {
  const runtime = new Runtime();
  const panel = await open(runtime);
  const field = panel.querySelector("textarea")!;
  field.value = "hello";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await settled();
  button(panel, "Send").click();
  await settled();
  expect(panel.querySelector(".octo-dots")).not.toBeNull();
  const id = runtime.sent.find((message) => message.type === "ask")!.id;
  const refusal = { text: "The queue is full", reply_to: id, failed: true, hint: "wait a `little`" };
  runtime.tell({ type: "message", id: "m", ...refusal });
  await settled();
  expect(panel.querySelector(".octo-dots")).toBeNull();
  expect(panel.querySelector(".chat-failed")?.textContent).toContain("The queue is full");
  expect(panel.querySelector(".chat-failed")?.textContent).toContain("wait a little");
  expect(panel.querySelector(".chat-failed code")?.textContent).toBe("little");
});

it("shows a picture that was sent and lets another file be saved", async () => {
  const runtime = new Runtime();
  const panel = await open(runtime);
  const media = [
    { mime: "image/png", name: "duck.png", data: "iVBORw0=" },
    { mime: "text/html", name: "duck.html", data: "PGI+" },
  ];
  const said = { text: "ducks", reply_to: "", failed: false, hint: "" };
  runtime.tell({ type: "message", id: "m", ...said, media });
  await settled();
  const picture = panel.querySelector<HTMLImageElement>(".chat-note img")!;
  expect(picture.getAttribute("src")).toBe("data:image/png;base64,iVBORw0=");
  const link = panel.querySelector<HTMLAnchorElement>(".chat-note a")!;
  expect(link.getAttribute("href")).toBe("data:application/octet-stream;base64,PGI+");
  expect(link.download).toBe("duck.html");
});

it("speaks finished blocks to a screen reader, not each word", async () => {
  const runtime = new Runtime();
  const panel = await open(runtime);
  const spoken = () => panel.querySelector("[aria-live=polite].octo-unseen")?.textContent;
  const half: Block[] = [{ kind: "text", text: "Half of" }];
  runtime.tell({ type: "turn", turn: turn("t1", half, { state: "running" }) });
  await settled();
  expect(spoken()).toBe("Answering");
  const whole: Block[] = [{ kind: "text", text: "Half of it." }];
  runtime.tell({ type: "turn", turn: turn("t1", whole, { revision: 2 }) });
  await settled();
  expect(spoken()).toBe("Half of it.");
});

it("says at once that the kernel is gone, and offers nothing that cannot work", async () => {
  const runtime = new Runtime();
  const block: Block = {
    kind: "tool",
    call_id: "c",
    name: "python",
    arguments: "{}",
    state: "asking",
    output: "",
    seconds: null,
    media: [],
    approval_id: "a",
    detail: "1",
    risk: "execute",
  };
  runtime.turns = [turn("1", [block], { state: "running" })];
  const panel = await open(runtime);
  expect(button(panel, "Deny")).toBeTruthy();
  runtime.restart();
  runtime.tell({ type: "turn", turn: { ...runtime.turns[0]!, revision: 2 } });
  await settled();
  expect(panel.querySelector("[role=alert]")?.textContent).toContain("The kernel was restarted");
  expect(panel.querySelector("textarea")).toBeNull();
  expect(panel.textContent).not.toContain("Deny");
  expect(panel.querySelector(".octo-dots")).toBeNull();
});

it("counts the time of a running turn from its start, not from when it is shown", async () => {
  const runtime = new Runtime();
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
  const running = { state: "running" as const, seconds: null };
  runtime.turns = [turn("t", [], { ...running, started_at: ago(65) })];
  const panel = await open(runtime);
  expect(panel.querySelector(".octo-time")?.textContent).toBe("65 s");
  runtime.tell({ type: "turn", turn: turn("t", [], { ...running, started_at: ago(-900) }) });
  await settled();
  expect(panel.querySelector(".octo-time")).toBeNull();
});

it("gives the keyboard to the message field when the stop button was pressed", async () => {
  const runtime = new Runtime();
  runtime.turns = [turn("t", [], { state: "running", seconds: null })];
  const panel = await open(runtime);
  const stop = button(panel, "Stop");
  stop.focus();
  stop.click();
  await settled();
  expect(document.activeElement?.tagName).toBe("TEXTAREA");
});

it("offers the models by provider, with what is known of them, and chooses one", async () => {
  const runtime = new Runtime();
  const panel = await open(runtime);
  const picker = panel.querySelector("select")!;
  expect(picker.value).toBe("openai/gpt-4o");
  expect([...picker.querySelectorAll("optgroup")].map((group) => group.label)).toEqual(["openai"]);
  expect([...picker.options].map((option) => option.textContent)).toEqual([
    "gpt-4o · 128k · $2.5 / $10",
    "x",
    "the usual model",
  ]);
  picker.value = "openai/x";
  picker.dispatchEvent(new Event("change", { bubbles: true }));
  await settled();
  expect(runtime.sent.filter((message) => message.name === "command")).toEqual([
    expect.objectContaining({ args: { line: "/model openai/x" } }),
  ]);
});
