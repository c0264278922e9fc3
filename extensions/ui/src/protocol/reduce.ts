/** Snapshots from frames: pure functions, nothing is changed in place. */

import type { Block, Op, PatchFrame, Turn } from "./types";

/** The turn after the patch, or null when the patch builds on a snapshot we do not have. */
export function applyPatch(turn: Turn | undefined, patch: PatchFrame): Turn | null {
  if (!turn || turn.turn_id !== patch.turn_id || turn.revision !== patch.base) return null;
  const blocks: (Block | undefined)[] = patch.ops.reduce(applyOp, turn.blocks.slice());
  if (blocks.includes(undefined)) return null;
  const { revision, state, model, usage, seconds } = patch;
  return { ...turn, revision, state, model, usage, seconds, blocks: blocks as Block[] };
}

function applyOp(blocks: Block[], op: Op): Block[] {
  switch (op[0]) {
    case "append": {
      const block = blocks[op[1]];
      if (block && "text" in block) blocks[op[1]] = { ...block, text: block.text + op[2] };
      return blocks;
    }
    case "put":
      blocks[op[1]] = op[2];
      return blocks;
    case "cut":
      return blocks.slice(0, op[1]);
  }
}

/** Of two snapshots of one turn, the later. */
export function later(known: Turn | undefined, arrived: Turn): Turn {
  return known && known.revision > arrived.revision ? known : arrived;
}

/** A running turn whose kernel is gone: it does not run, and no button of it works. */
export function brokenOff(turn: Turn): Turn {
  if (turn.state !== "running") return turn;
  const blocks = turn.blocks.map((block) =>
    block.kind === "tool" && ["asking", "running", "writing"].includes(block.state)
      ? { ...block, state: "cancelled" as const }
      : block,
  );
  return { ...turn, blocks, state: "interrupted" };
}
