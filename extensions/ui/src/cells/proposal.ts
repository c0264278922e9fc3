/** A cell that the agent proposed, and the way to answer. */

import { getContext, setContext } from "svelte";
import type { ToolBlock } from "../protocol/types";
import type { Cells } from "./cells";

export interface Proposal {
  code: string;
  edits: boolean;
  cell: string;
  run: boolean;
}
export type Answer = "shown" | "inserted" | "ran" | "put" | "copied" | "dismissed";
/** `cells` is undefined where the notebook cannot be reached. */
export interface Desk {
  cells: () => Cells | undefined;
  answer: (call_id: string, answer: Answer, code: string) => void;
}

const KEY = Symbol("proposals");

/** What the cards inside this view answer to. */
export function takeProposals(desk: Desk): void {
  setContext(KEY, desk);
}

export function proposalDesk(): Desk | undefined {
  return getContext<Desk | undefined>(KEY);
}

/** The cell that a call proposes while the person can answer, else undefined. */
export function proposalOf(block: ToolBlock): Proposal | undefined {
  if (block.name !== "propose_cell" || block.state !== "running") return undefined;
  try {
    const args = JSON.parse(block.arguments) as Record<string, unknown>;
    if (typeof args["code"] !== "string") return undefined;
    return {
      code: args["code"],
      edits: args["action"] === "edit",
      cell: typeof args["cell"] === "string" ? args["cell"] : "",
      run: args["run"] === true,
    };
  } catch {
    return undefined;
  }
}
