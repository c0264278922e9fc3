import { describe, expect, it } from "vitest";
import { EMPTY, receive, restore } from "../src/protocol/conversation";
import { applyPatch, later } from "../src/protocol/reduce";
import type { Block, Op, PatchFrame, Turn } from "../src/protocol/types";
import { USAGE } from "./usage";

function turn(revision: number, blocks: Block[], over: Partial<Turn> = {}): Turn {
  return {
    turn_id: "t1",
    message_id: "m1",
    session: "s1",
    prompt: "hello",
    started_at: null,
    revision,
    state: "running",
    model: "",
    usage: USAGE,
    seconds: null,
    blocks,
    ...over,
  };
}

function patch(base: number, revision: number, ops: Op[], over = {}): PatchFrame {
  const head = { revision, state: "running" as const, model: "", usage: USAGE, seconds: null };
  return { type: "patch", turn_id: "t1", base, ...head, ops, ...over };
}

describe("a patch", () => {
  it("appends text to a block and leaves the earlier snapshot as it was", () => {
    const before = turn(1, [{ kind: "text", text: "Hel" }]);
    const after = applyPatch(before, patch(1, 2, [["append", 0, "lo"]]));
    expect(after).toEqual(turn(2, [{ kind: "text", text: "Hello" }]));
    expect(before.blocks[0]).toEqual({ kind: "text", text: "Hel" });
  });

  it("puts a new block, replaces one and cuts the rest, in order", () => {
    const before = turn(3, [
      { kind: "text", text: "a" },
      { kind: "notice", text: "b" },
      { kind: "notice", text: "c" },
    ]);
    const ops: Op[] = [
      ["cut", 2],
      ["put", 1, { kind: "text", text: "B" }],
    ];
    expect(applyPatch(before, patch(3, 4, ops))).toEqual(
      turn(4, [
        { kind: "text", text: "a" },
        { kind: "text", text: "B" },
      ]),
    );
  });

  it("takes over the head: state, usage, seconds", () => {
    const usage = { ...USAGE, output_tokens: 7 };
    const end = patch(1, 2, [], { state: "completed", usage, seconds: 1.5, model: "m" });
    expect(applyPatch(turn(1, []), end)).toEqual(
      turn(2, [], { state: "completed", usage, seconds: 1.5, model: "m" }),
    );
  });

  it("is refused when its base is not what we have, or it leaves a hole", () => {
    expect(applyPatch(undefined, patch(1, 2, []))).toBeNull();
    expect(applyPatch(turn(1, []), patch(2, 3, []))).toBeNull();
    expect(applyPatch(turn(1, []), patch(1, 2, [], { turn_id: "t2" }))).toBeNull();
    const far: Op[] = [["put", 1, { kind: "notice", text: "x" }]];
    expect(applyPatch(turn(1, []), patch(1, 2, far))).toBeNull();
  });

  it("keeps the later of two snapshots", () => {
    const [old, young] = [turn(1, []), turn(5, [])];
    expect(later(young, old)).toBe(young);
    expect(later(old, young)).toBe(young);
    expect(later(undefined, old)).toBe(old);
  });
});

describe("a conversation", () => {
  it("asks for the whole turn when it missed the base, then goes on with patches", () => {
    const missed = receive(EMPTY, patch(4, 5, []));
    expect(missed.missing).toBe("t1");
    const whole = receive(missed.conversation, { type: "turn", turn: turn(5, []) });
    expect(whole.conversation.turns).toEqual([turn(5, [])]);
    const next = receive(whole.conversation, patch(5, 6, [["put", 0, { kind: "text", text: "x" }]]));
    expect(next.missing).toBeUndefined();
    expect(next.conversation.turns[0]?.blocks).toEqual([{ kind: "text", text: "x" }]);
  });

  it("ignores a patch that is older than what it has", () => {
    const { conversation } = receive(EMPTY, { type: "turn", turn: turn(9, []) });
    const step = receive(conversation, patch(3, 4, []));
    expect(step).toEqual({ conversation });
  });

  it("notices a turn of another dialog once and then ignores its patches", () => {
    const mine = restore(EMPTY, "s1", [turn(1, [])]);
    const other = turn(1, [], { turn_id: "t2", session: "s2" });
    const noticed = receive(mine, { type: "turn", turn: other });
    expect(noticed.elsewhere).toBe(true);
    expect(noticed.conversation.turns).toEqual(mine.turns);
    const after = receive(noticed.conversation, patch(1, 2, [], { turn_id: "t2" }));
    expect(after).toEqual({ conversation: noticed.conversation });
  });

  it("keeps what streamed in while the history was on its way", () => {
    const live = receive(EMPTY, { type: "turn", turn: turn(7, []) }).conversation;
    const old = turn(2, [], { turn_id: "t0", state: "completed" });
    expect(restore(live, "s1", [old, turn(3, [])]).turns).toEqual([old, turn(7, [])]);
    expect(restore(live, "s2", []).turns).toEqual([]);
  });
});
