/** The wire to the kernel: JSON messages over the widget's channel. */

import type { Frame, Reply, ReplyOf } from "./types";

/** A message, or that the kernel at the other end was restarted or has ended. */
export type ChannelEvent = "msg:custom" | "comm_live_update";

/** The part of anywidget's model that we use. */
export interface Channel {
  send(content: unknown): void;
  on(event: ChannelEvent, callback: (message: unknown) => void): void;
  off(event: ChannelEvent, callback: (message: unknown) => void): void;
}

const PATIENCE = 15_000;
const SILENT = {
  kind: "told",
  text: "The kernel does not answer",
  failed: true,
  hint: "it may be busy, or was restarted: run the cell again",
} as const;

/** Sends messages, hands on frames, and matches replies to requests. */
export class Link {
  private readonly waiting = new Map<string, (reply: Reply) => void>();
  private readonly listen: (message: unknown) => void;
  private readonly lose: () => void;
  private lost = false;

  constructor(
    private readonly channel: Channel,
    hear: (frame: Frame) => void,
    ended: () => void = () => undefined,
  ) {
    this.listen = (message) => {
      if (this.lost) return; // an ending kernel may go on speaking for a moment
      const frame = message as Frame;
      const give = frame.type === "reply" ? this.waiting.get(frame.id) : undefined;
      if (frame.type !== "reply" || !give) return hear(frame);
      this.waiting.delete(frame.id);
      give(frame.reply);
    };
    this.lose = () => {
      if (this.lost) return;
      this.lost = true;
      for (const give of [...this.waiting.values()]) give(SILENT);
      this.waiting.clear();
      ended();
    };
    channel.on("msg:custom", this.listen);
    channel.on("comm_live_update", this.lose);
  }

  send(message: Record<string, unknown>): void {
    if (!this.lost) this.channel.send(message);
  }

  control(name: string, args: Record<string, unknown> = {}): void {
    this.send({ type: "control", id: newId(), name, args });
  }

  /** Ask for one reply; a refusal or silence is a failed `told`. */
  request<K extends Reply["kind"]>(
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<ReplyOf<K> | ReplyOf<"told">> {
    if (this.lost) return Promise.resolve(SILENT);
    const id = newId();
    return new Promise((resolve) => {
      const give = (reply: Reply) => {
        clearTimeout(timer);
        resolve(reply as ReplyOf<K>);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        give(SILENT);
      }, PATIENCE);
      this.waiting.set(id, give);
      this.send({ type: "control", id, name, args });
    });
  }

  close(): void {
    this.channel.off("msg:custom", this.listen);
    this.channel.off("comm_live_update", this.lose);
    this.waiting.clear();
  }
}

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
