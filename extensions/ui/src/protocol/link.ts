/** The wire to the kernel: JSON messages over the widget's channel. */

import type { Frame, Reply, ReplyOf } from "./types";

/** The part of anywidget's model that we use. */
export interface Channel {
  send(content: unknown): void;
  on(event: "msg:custom", callback: (message: unknown) => void): void;
  off(event: "msg:custom", callback: (message: unknown) => void): void;
}

const PATIENCE = 15_000;

/** Sends messages, hands on frames, and matches replies to requests. */
export class Link {
  private readonly waiting = new Map<string, (reply: Reply) => void>();
  private readonly listen: (message: unknown) => void;

  constructor(
    private readonly channel: Channel,
    hear: (frame: Frame) => void,
  ) {
    this.listen = (message) => {
      const frame = message as Frame;
      const give = frame.type === "reply" ? this.waiting.get(frame.id) : undefined;
      if (frame.type !== "reply" || !give) return hear(frame);
      this.waiting.delete(frame.id);
      give(frame.reply);
    };
    channel.on("msg:custom", this.listen);
  }

  send(message: Record<string, unknown>): void {
    this.channel.send(message);
  }

  control(name: string, args: Record<string, unknown> = {}): void {
    this.send({ type: "control", id: newId(), name, args });
  }

  /** Ask for one reply; a refusal or silence is a failed `told`. */
  request<K extends Reply["kind"]>(
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<ReplyOf<K> | ReplyOf<"told">> {
    const id = newId();
    return new Promise((resolve) => {
      const give = (reply: Reply) => {
        clearTimeout(timer);
        resolve(reply as ReplyOf<K>);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        give({
          kind: "told",
          text: "The kernel does not answer",
          failed: true,
          hint: "it may be busy, or was restarted: run the cell again",
        });
      }, PATIENCE);
      this.waiting.set(id, give);
      this.send({ type: "control", id, name, args });
    });
  }

  close(): void {
    this.channel.off("msg:custom", this.listen);
    this.waiting.clear();
  }
}

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
