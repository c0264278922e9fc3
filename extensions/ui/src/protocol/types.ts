/** The JSON of octo_lab/core/frames.py and octo_lab/core/wire.py. */

export type TurnState = "running" | "completed" | "cancelled" | "interrupted" | "failed";
export type ToolState =
  | "queued"
  | "asking"
  | "running"
  | "ok"
  | "error"
  | "denied"
  | "cancelled";
export type Decision = "once" | "session" | "always" | "deny";

export interface TextBlock {
  kind: "text";
  text: string;
}
export interface ReasoningBlock {
  kind: "reasoning";
  text: string;
}
export interface NoticeBlock {
  kind: "notice";
  text: string;
}
export interface ErrorBlock {
  kind: "error";
  message: string;
  hint: string;
}
export interface Media {
  mime: string;
  name: string;
  data: string;
}
export interface ToolBlock {
  kind: "tool";
  call_id: string;
  name: string;
  arguments: string;
  state: ToolState;
  output: string;
  seconds: number | null;
  media: Media[];
  approval_id: string;
  detail: string;
  risk: string;
  /** What the call changed in files, as a unified diff. */
  diff?: string;
}
export type Block = TextBlock | ReasoningBlock | NoticeBlock | ErrorBlock | ToolBlock;

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  written_tokens: number;
  reasoning_tokens: number;
  requests: number;
  /** US dollars, of the `priced` ones of the `requests`. */
  cost: number;
  priced: number;
}
export interface TurnHead {
  revision: number;
  state: TurnState;
  model: string;
  usage: Usage;
  seconds: number | null;
}
export interface Turn extends TurnHead {
  turn_id: string;
  message_id: string;
  session: string;
  prompt: string;
  started_at: string | null;
  blocks: Block[];
}

export type Op = ["append", number, string] | ["put", number, Block] | ["cut", number];
export interface TurnFrame {
  type: "turn";
  turn: Turn;
}
export interface PatchFrame extends TurnHead {
  type: "patch";
  turn_id: string;
  base: number;
  ops: Op[];
}
export interface MessageFrame {
  type: "message";
  id: string;
  text: string;
  reply_to: string;
  failed: boolean;
  hint: string;
  /** Files for the person. */
  media?: Media[];
}
export interface ReplyFrame {
  type: "reply";
  id: string;
  reply: Reply;
}
export type Frame = TurnFrame | PatchFrame | MessageFrame | ReplyFrame;

export interface SessionInfo {
  session: string;
  title: string;
  current: boolean;
  archived: boolean;
  turns: number;
  updated_at: string;
  busy: boolean;
}
export interface CommandInfo {
  name: string;
  usage: string;
  summary: string;
  aliases: string[];
}
export interface ProviderInfo {
  name: string;
  state: string;
  /** As `provider/model`. */
  models: string[];
}
/** What is known of a model; prices are US dollars per million tokens. */
export interface ModelCard {
  name: string;
  context_window: number | null;
  price_in: number | null;
  price_out: number | null;
  capabilities: string[];
}
export type Reply =
  | { kind: "told"; text: string; failed: boolean; hint: string }
  | { kind: "sessions"; sessions: SessionInfo[] }
  | { kind: "history"; session: string; title: string; turns: Turn[] }
  | { kind: "commands"; commands: CommandInfo[] }
  | { kind: "providers"; providers: ProviderInfo[]; current: string; cards: ModelCard[] }
  | {
      kind: "status";
      session: string;
      title: string;
      model: string;
      provider: string;
      provider_note: string;
      context_tokens: number;
      context_window: number;
      usage: Usage;
    };
export type ReplyOf<K extends Reply["kind"]> = Extract<Reply, { kind: K }>;
