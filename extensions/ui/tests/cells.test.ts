import { flushSync, mount, unmount } from "svelte";
import { afterEach, describe, expect, it } from "vitest";
import { cellsAround } from "../src/cells/cells";
import { lineDiff } from "../src/cells/diff";
import { proposalOf } from "../src/cells/proposal";
import type { Channel } from "../src/protocol/link";
import type { ToolBlock, Turn as TurnData } from "../src/protocol/types";
import Turn from "../src/turn/Turn.svelte";

class Cell {
  cell_type = "code";
  constructor(
    public source: string,
    public execution_count: number | null,
  ) {}
  setSource(source: string) {
    this.source = source;
  }
}
class Shared {
  cells = [new Cell("prices = [1]", 4), new Cell("%%octo go", 5), new Cell("last", null)];
  insertCell(index: number, cell: { source: string }) {
    this.cells.splice(index, 0, new Cell(cell.source, null));
  }
  get sources() {
    return this.cells.map((cell) => cell.source);
  }
}

function notebook(): { shared: Shared; manager: unknown; place: HTMLElement } {
  document.body.innerHTML = `<div class="jp-NotebookPanel"><div class="jp-Notebook">
    ${"<div class='jp-Cell'><div class='jp-InputArea-editor'></div><div class='out'></div></div>".repeat(3)}
  </div></div>`;
  const shared = new Shared();
  const place = document.querySelectorAll<HTMLElement>(".out")[1]!;
  return { shared, manager: { context: { model: { sharedModel: shared } } }, place };
}

function block(args: Record<string, unknown>): ToolBlock {
  return {
    kind: "tool",
    call_id: "c1",
    name: "propose_cell",
    arguments: JSON.stringify({ code: "sum(prices)", ...args }),
    state: "running",
    output: "",
    seconds: null,
    media: [],
    approval_id: "",
    detail: "",
    risk: "",
  };
}

let view: Record<string, unknown> | undefined;
afterEach(() => {
  if (view) void unmount(view);
  view = undefined;
});

function shown(args: Record<string, unknown>, reachable = true) {
  const { shared, manager, place } = notebook();
  const sent: Record<string, unknown>[] = [];
  let hear: (message: unknown) => void = () => undefined;
  const channel: Channel = {
    send: (content) => void sent.push(content as Record<string, unknown>),
    on: (event, callback) => {
      if (event === "msg:custom") hear = callback;
    },
    off: () => undefined,
  };
  const cells = () => (reachable ? cellsAround(manager, place) : undefined);
  view = mount(Turn, { target: place, props: { channel, cells } });
  const turn = { turn_id: "t", revision: 1, state: "running", blocks: [block(args)] };
  hear({ type: "turn", turn: { ...turn, started_at: null } as unknown as TurnData });
  flushSync();
  const press = async (name: string) => {
    const buttons = [...place.querySelectorAll("button")];
    buttons.find((button) => button.textContent?.trim() === name)?.click();
    await new Promise((resolve) => setTimeout(resolve, 0));
    flushSync();
  };
  const answers = () =>
    sent.filter((one) => one["name"] === "propose").map((one) => one["args"] as { answer: string });
  return { shared, place, press, answers };
}

describe("a proposed cell", () => {
  it("tells at once that it can be seen", () => {
    expect(shown({}).answers()).toEqual([{ call_id: "c1", answer: "shown", code: "" }]);
  });

  it("is put below the cell that asked", async () => {
    const { shared, press, answers } = shown({});
    await press("Insert");
    expect(shared.sources).toEqual(["prices = [1]", "%%octo go", "sum(prices)", "last"]);
    expect(answers()[1]).toEqual({ call_id: "c1", answer: "inserted", code: "sum(prices)" });
  });

  it("is put below, or in place of, a cell that is named by its number", async () => {
    const below = shown({ cell: "@cell4" });
    await below.press("Insert");
    expect(below.shared.sources).toEqual(["prices = [1]", "sum(prices)", "%%octo go", "last"]);
    const edit = shown({ cell: "@cell4", action: "edit" });
    expect(edit.place.textContent).toContain("-prices = [1]");
    await edit.press("Replace");
    expect(edit.shared.sources).toEqual(["sum(prices)", "%%octo go", "last"]);
  });

  it("is changed before it is put", async () => {
    const { shared, place, press, answers } = shown({});
    await press("Edit");
    const field = place.querySelector("textarea")!;
    field.value = "max(prices)";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await press("Insert");
    expect(shared.sources[2]).toBe("max(prices)");
    expect(answers()[1]).toEqual({ call_id: "c1", answer: "inserted", code: "max(prices)" });
  });

  it("is dismissed, and the notebook stays as it is", async () => {
    const { shared, press, answers } = shown({});
    await press("Dismiss");
    await press("Insert");
    expect(shared.cells).toHaveLength(3);
    expect(answers().map((one) => one.answer)).toEqual(["shown", "dismissed"]);
  });

  it("is left to the kernel where the notebook is out of reach", async () => {
    const { place, press, answers } = shown({ action: "edit" }, false);
    expect(place.textContent).not.toContain("and run");
    await press("Insert");
    expect(answers()[1]).toEqual({ call_id: "c1", answer: "put", code: "sum(prices)" });
  });

  it("is none when the call has ended or says something else", () => {
    expect(proposalOf({ ...block({}), state: "ok" })).toBeUndefined();
    expect(proposalOf({ ...block({}), name: "python" })).toBeUndefined();
    expect(proposalOf({ ...block({}), arguments: "{" })).toBeUndefined();
    expect(proposalOf(block({ code: 3 }))).toBeUndefined();
  });
});

describe("the lines that differ", () => {
  it("keeps what is common", () => {
    expect(lineDiff("a\nb\nc", "a\nx\nc\nd")).toBe(" a\n-b\n+x\n c\n+d");
    expect(lineDiff("a", "a")).toBe(" a");
    expect(lineDiff("", "a")).toBe("-\n+a");
  });

  it("compares no more than it can", () => {
    const long = Array.from({ length: 2100 }, (_, n) => String(n)).join("\n");
    expect(lineDiff(long, long).split("\n")).toHaveLength(4200);
  });
});
