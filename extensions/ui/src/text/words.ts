/** The few words every view of a turn shares; see octo_lab/notebook/render_words.py. */

import type { ModelCard, ToolBlock, ToolState, Turn, TurnState, Usage } from "../protocol/types";

export const SIGNS: Record<ToolState, string> = {
  queued: "…",
  asking: "?",
  running: "▸",
  ok: "✓",
  error: "✗",
  denied: "⊘",
  cancelled: "■",
};
export const WORDS: Record<ToolState, string> = {
  queued: "waiting",
  asking: "needs your approval",
  running: "running",
  ok: "done",
  error: "failed",
  denied: "denied",
  cancelled: "stopped",
};
export const ENDINGS: Partial<Record<TurnState, string>> = {
  cancelled: "Stopped. What had arrived is kept.",
  interrupted: "Interrupted: the kernel ended before the answer did.",
};

const RISKS: Record<string, string> = {
  read: "Reads data.",
  write: "Changes files.",
  execute: "Runs code on this machine, with your rights.",
  network: "Talks to the network.",
};

/** What the person is asked, in words; a detail that the card already shows is left out. */
export function questionOf(block: ToolBlock): string {
  const risk = RISKS[block.risk] ?? block.risk;
  const detail = inputOf(block).text.includes(block.detail) ? "" : firstLine(block.detail, 200);
  return [risk, detail].filter(Boolean).join(" ") || "It runs only if you allow it.";
}

/** The state of a call and, once it ran, its time. */
export function stateOf(block: ToolBlock): string {
  const ran = block.state === "ok" || block.state === "error";
  const time = ran && block.seconds !== null ? `, ${secondsText(block.seconds)}` : "";
  return `${WORDS[block.state]}${time}`;
}

const TERMINAL_CODE = /\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]/g;

export function inputOf(block: ToolBlock): { text: string; language: string } {
  const args = argumentsOf(block);
  if (!args) return { text: block.arguments, language: "" };
  const names = Object.keys(args);
  if (typeof args.code === "string")
    return { text: args.code, language: "python" };
  return names.length ? { text: JSON.stringify(args, null, 2), language: "json" } : none;
}
const none = { text: "", language: "" };

export function gistOf(block: ToolBlock): string {
  const args = argumentsOf(block);
  if (!args) return firstLine(block.arguments);
  const entries = Object.entries(args);
  if (typeof args.code === "string") return codeGist(args.code);
  return entries.map(([name, value]) => `${name}=${firstLine(JSON.stringify(value))}`).join(", ");
}

function argumentsOf(block: ToolBlock): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(block.arguments || "{}");
    return value && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export function outputOf(block: ToolBlock): string {
  return block.output.replace(TERMINAL_CODE, "").replace(/^\n+|\n+$/g, "");
}

/** What the call changed in files. */
export function diffOf(block: ToolBlock): string {
  return (block.diff ?? "").replace(TERMINAL_CODE, "").replace(/^\n+|\n+$/g, "");
}

/** How many lines came and went; "" for a call that changed no text file. */
export function deltaOf(block: ToolBlock): string {
  const lines = (block.diff ?? "").replace(/^--- .*\n\+\+\+ .*\n(?=@@)/gm, "").split("\n");
  const came = lines.filter((line) => line.startsWith("+")).length;
  const went = lines.filter((line) => line.startsWith("-")).length;
  return came || went ? `+${came} \u2212${went}` : "";
}

export function firstLine(text: string, limit = 80): string {
  const line = text.split("\n").find((line) => line.trim())?.trim() ?? "";
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

/** The first line of code, and how many more there are. */
function codeGist(code: string): string {
  const more = code.split("\n").filter((line) => line.trim()).length - 1;
  return more < 1 ? firstLine(code) : `${firstLine(code)} … +${more} ${more === 1 ? "line" : "lines"}`;
}

export function secondsText(seconds: number): string {
  if (seconds < 0.1) return "<0.1 s";
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export function footerOf(turn: Turn): string {
  const time = turn.seconds === null ? [] : [secondsText(turn.seconds)];
  return [turn.model, ...usageParts(turn.usage), ...time].filter(Boolean).join(" · ");
}

function usageParts(usage: Usage): string[] {
  if (!usage.input_tokens && !usage.output_tokens) return [];
  return [
    `${count(usage.input_tokens)} tokens in`,
    `${count(usage.output_tokens)} out`,
    costText(usage),
  ];
}

const SMALLEST = 0.0001;

/** What is known of a cost: all of it, "at least" a part, or nothing, which is "". */
export function costText(usage: Usage): string {
  if (!usage.priced) return "";
  const whole = usage.priced === usage.requests;
  if (!whole && usage.cost < SMALLEST) return "";
  return `${whole ? "" : "at least "}${dollarsText(usage.cost)}`;
}

function dollarsText(amount: number): string {
  if (amount <= 0) return "$0";
  if (amount < SMALLEST) return `<$${SMALLEST}`;
  const digits = amount < 1 ? 4 : 2;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `$${amount.toLocaleString("en-US", options)}`;
}

/** The window and the price of a model in a few characters, as far as they are known. */
export function modelFacts(card: ModelCard): string {
  const { context_window: window, price_in: input, price_out: output } = card;
  const parts = [
    window ? (window >= 1_000_000 ? `${+(window / 1e6).toFixed(1)}M` : `${Math.round(window / 1000)}k`) : "",
    input !== null && output !== null ? `$${input} / $${output}` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** The visible answer as Markdown. */
export function answerOf(turn: Turn): string {
  return turn.blocks
    .flatMap((block) => (block.kind === "text" ? [block.text] : []))
    .join("\n\n");
}

/** How long ago, in one short word. */
export function since(iso: string, now = Date.now()): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}
