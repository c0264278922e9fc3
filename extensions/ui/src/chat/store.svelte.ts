/** What the chat panel knows, and what it can do; the runtime holds the truth. */

import type { Answer } from "../cells/proposal";
import { EMPTY, receive, restore, type Conversation } from "../protocol/conversation";
import { brokenOff } from "../protocol/reduce";
import { Link, newId, type Channel } from "../protocol/link";
import type {
  CommandInfo,
  Decision,
  Frame,
  Media,
  ModelCard,
  ProviderInfo,
  ReplyOf,
  SessionInfo,
} from "../protocol/types";

interface Said {
  text: string;
  failed: boolean;
  hint: string;
  media?: Media[];
}
export interface Note extends Said {
  key: string;
  /** The id of the turn it follows, "" at the beginning. */
  after: string;
}
export interface Pending {
  id: string;
  text: string;
}

const FIRST_LIMIT = 100;
const NOTES_LIMIT = 50;

export class Chat {
  conversation: Conversation = $state.raw(EMPTY);
  sessions: SessionInfo[] = $state.raw([]);
  commands: CommandInfo[] = $state.raw([]);
  status: ReplyOf<"status"> | undefined = $state.raw();
  providers: ProviderInfo[] = $state.raw([]);
  cards: ModelCard[] = $state.raw([]);
  notes: Note[] = $state.raw([]);
  pending: Pending[] = $state.raw([]);
  query = $state("");
  loaded = $state(false);
  /** The kernel was restarted or has ended: nothing here can do anything any more. */
  gone = $state(false);
  /** Whether the dialog may have turns older than those that were loaded. */
  more = $state(false);

  private readonly link: Link;
  private limit = FIRST_LIMIT;

  constructor(channel: Channel) {
    this.link = new Link(channel, (frame) => this.hear(frame), () => this.end());
    void this.start();
  }

  readonly running = $derived(this.conversation.turns.filter((t) => t.state === "running"));
  readonly busy = $derived(this.running.length > 0 || this.pending.length > 0);
  readonly title = $derived(this.sessions.find((s) => s.current)?.title ?? "");
  readonly prompts = $derived(this.conversation.turns.map((turn) => turn.prompt));

  close(): void {
    this.link.close();
  }

  ask(text: string): void {
    if (text.trimStart().startsWith("/")) return void this.command(text.trim());
    const id = newId();
    this.pending = [...this.pending, { id, text }];
    this.link.send({ type: "ask", id, text, options: {} });
  }

  stop(): void {
    this.pending = [];
    this.link.control("stop");
  }

  settle(approval_id: string, decision: Decision): void {
    this.link.control("settle", { approval_id, decision });
  }

  answerProposal(call_id: string, answer: Answer, code: string): void {
    this.link.control("propose", { call_id, answer, code });
  }

  async command(line: string): Promise<void> {
    this.note(await this.link.request<"told">("command", { line }));
    await this.refresh();
  }

  async newDialog(): Promise<void> {
    await this.quietly("command", { line: "/new" });
  }

  async open(session: string): Promise<void> {
    await this.quietly("command", { line: `/switch ${dialogOf(session)}` });
  }

  /** From the next request on, also within a running turn. */
  async useModel(name: string): Promise<void> {
    await this.quietly("command", { line: `/model ${name}` });
  }

  async loadModels(): Promise<void> {
    const reply = await this.link.request<"providers">("providers");
    if (reply.kind !== "providers") return;
    this.providers = reply.providers;
    this.cards = reply.cards;
  }

  async edit(session: string, change: Record<string, unknown>): Promise<void> {
    await this.quietly("edit_session", { session, ...change });
  }

  async loadEarlier(): Promise<void> {
    this.limit *= 4;
    await this.loadHistory();
  }

  async search(query: string): Promise<void> {
    this.query = query;
    await this.loadSessions();
  }

  /** Run a control whose effect is seen in the panel; only a failure is worth a line. */
  private async quietly(name: string, args: Record<string, unknown>): Promise<void> {
    const reply = await this.link.request<"told">(name, args);
    if (reply.failed) this.note(reply);
    await this.refresh();
  }

  private async start(): Promise<void> {
    await this.refresh();
    this.loaded = true;
    const commands = await this.link.request<"commands">("commands");
    if (commands.kind === "commands") this.commands = commands.commands;
    await this.loadModels();
  }

  private async refresh(): Promise<void> {
    await Promise.all([this.loadSessions(), this.loadHistory(), this.loadStatus()]);
  }

  private async loadSessions(): Promise<void> {
    const reply = await this.link.request<"sessions">("sessions", { query: this.query });
    if (reply.kind === "sessions") this.sessions = reply.sessions;
  }

  private async loadHistory(): Promise<void> {
    const reply = await this.link.request<"history">("history", { limit: this.limit });
    if (reply.kind === "told") return this.note(reply);
    if (reply.session !== this.conversation.session) this.notes = [];
    this.conversation = restore(this.conversation, reply.session, reply.turns);
    this.more = reply.turns.length >= this.limit;
    this.settlePending();
  }

  private async loadStatus(): Promise<void> {
    const reply = await this.link.request<"status">("status");
    if (reply.kind === "status") this.status = reply;
  }

  private hear(frame: Frame): void {
    if (frame.type === "message") return this.hearMessage(frame, frame.reply_to);
    if (frame.type === "reply") {
      if (frame.reply.kind === "told" && frame.reply.failed) this.hearMessage(frame.reply, frame.id);
      return;
    }
    const before = this.running.length;
    const step = receive(this.conversation, frame);
    this.conversation = step.conversation;
    this.settlePending();
    if (step.missing) this.link.send({ type: "whole", turn_id: step.missing });
    if (step.elsewhere) void this.refresh();
    else if (this.running.length !== before) void this.afterTurn();
  }

  private async afterTurn(): Promise<void> {
    await Promise.all([this.loadSessions(), this.loadStatus()]);
  }

  private hearMessage(said: Said, answers: string): void {
    this.pending = this.pending.filter((asked) => asked.id !== answers);
    this.note(said);
    void this.refresh();
  }

  private settlePending(): void {
    const arrived = new Set(this.conversation.turns.map((turn) => turn.message_id));
    if (this.pending.some((asked) => arrived.has(asked.id)))
      this.pending = this.pending.filter((asked) => !arrived.has(asked.id));
  }

  private end(): void {
    this.gone = true;
    this.pending = [];
    this.sessions = this.sessions.map((session) => ({ ...session, busy: false }));
    const turns = this.conversation.turns.map(brokenOff);
    this.conversation = { ...this.conversation, turns };
  }

  private note(told: Said): void {
    if (this.gone) return;
    const after = this.conversation.turns.at(-1)?.turn_id ?? "";
    const { text, failed, hint, media } = told;
    const note = { key: newId(), after, text, failed, hint, media };
    this.notes = [...this.notes, note].slice(-NOTES_LIMIT);
  }
}

/** The last part of a session key: the id of the dialog. */
function dialogOf(session: string): string {
  return decodeURIComponent(session.split(":").at(-1) ?? "");
}
