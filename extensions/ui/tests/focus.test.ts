import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, expect, it } from "vitest";
import type { Channel } from "../src/protocol/link";
import type { Turn as Snapshot } from "../src/protocol/types";
import Turn from "../src/turn/Turn.svelte";
import { USAGE } from "./usage";

const RUNNING: Snapshot = {
  turn_id: "t",
  message_id: "m",
  session: "s",
  prompt: "p",
  started_at: null,
  revision: 1,
  state: "running",
  model: "m",
  usage: USAGE,
  seconds: null,
  blocks: [],
};

let view: Record<string, unknown> | undefined;
let tell: (message: unknown) => void;

/** A view of a running turn in `place`; its stop button has the focus. */
async function running(place: HTMLElement): Promise<HTMLButtonElement> {
  const channel: Channel = {
    on: (event, callback) => void (event === "msg:custom" && (tell = callback)),
    off: () => undefined,
    send: () => undefined,
  };
  document.body.append(place);
  view = mount(Turn, { target: place, props: { channel } });
  flushSync();
  tell({ type: "turn", turn: RUNNING });
  await tick();
  const stop = place.querySelector("button")!;
  stop.focus();
  return stop;
}
async function settled(): Promise<void> {
  await tick();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
function cell(): HTMLElement {
  const made = document.createElement("div");
  made.className = "jp-Cell";
  made.tabIndex = 0;
  return made;
}

afterEach(() => {
  if (view) void unmount(view);
  document.body.replaceChildren();
});

it("gives the keyboard to the cell when its button cannot be pressed any more", async () => {
  const place = cell();
  (await running(place)).click();
  await settled();
  expect(document.activeElement).toBe(place);
});

it("gives the keyboard to the cell when the turn ends under the focused button", async () => {
  const place = cell();
  await running(place);
  tell({ type: "turn", turn: { ...RUNNING, revision: 2, state: "completed", seconds: 1 } });
  await settled();
  expect(document.activeElement).toBe(place);
});

it("keeps the keyboard in the output where there is no cell to give it to", async () => {
  const place = document.createElement("div");
  (await running(place)).click();
  await settled();
  expect(document.activeElement).toBe(place.querySelector(".octo"));
});

it("takes the keyboard from nobody who went elsewhere", async () => {
  const place = cell();
  await running(place);
  const other = document.body.appendChild(document.createElement("input"));
  other.focus();
  tell({ type: "turn", turn: { ...RUNNING, revision: 2, state: "completed", seconds: 1 } });
  await settled();
  expect(document.activeElement).toBe(other);
});
