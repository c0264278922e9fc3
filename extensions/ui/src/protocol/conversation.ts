/** The turns of one dialog as the panel knows them. */

import { applyPatch, later } from "./reduce";
import type { Frame, Turn } from "./types";

export interface Conversation {
  readonly session: string;
  readonly turns: readonly Turn[];
  /** Ids of running turns of other dialogs: their patches are not ours. */
  readonly foreign: readonly string[];
}

export const EMPTY: Conversation = { session: "", turns: [], foreign: [] };
const FOREIGN_LIMIT = 100;

export interface Step {
  readonly conversation: Conversation;
  /** The id of a turn to ask for as a whole, when a patch did not fit. */
  readonly missing?: string;
  /** True when the frame belongs to another dialog: the session list has changed. */
  readonly elsewhere?: boolean;
}

/** What a frame does to the conversation. */
export function receive(conversation: Conversation, frame: Frame): Step {
  switch (frame.type) {
    case "turn":
      return receiveTurn(conversation, frame.turn);
    case "patch": {
      if (conversation.foreign.includes(frame.turn_id)) return { conversation };
      const known = conversation.turns.find((turn) => turn.turn_id === frame.turn_id);
      if (known && known.revision >= frame.revision) return { conversation };
      const turn = applyPatch(known, frame);
      if (turn) return { conversation: withTurn(conversation, turn) };
      return { conversation, missing: frame.turn_id };
    }
    default:
      return { conversation };
  }
}

function receiveTurn(conversation: Conversation, turn: Turn): Step {
  if (conversation.session && turn.session !== conversation.session) {
    const foreign = [turn.turn_id, ...conversation.foreign].slice(0, FOREIGN_LIMIT);
    return { conversation: { ...conversation, foreign }, elsewhere: true };
  }
  const session = conversation.session || turn.session;
  return { conversation: withTurn({ ...conversation, session }, turn) };
}

/** A dialog as the runtime tells it; what we know to be later stays. */
export function restore(known: Conversation, session: string, turns: Turn[]): Conversation {
  const mine = new Map(known.session === session ? known.turns.map((t) => [t.turn_id, t]) : []);
  return {
    session,
    turns: turns.map((turn) => later(mine.get(turn.turn_id), turn)),
    foreign: [],
  };
}

function withTurn(conversation: Conversation, turn: Turn): Conversation {
  const turns = conversation.turns.slice();
  const index = turns.findIndex((known) => known.turn_id === turn.turn_id);
  if (index < 0) turns.push(turn);
  else turns[index] = later(turns[index], turn);
  return { ...conversation, turns };
}
