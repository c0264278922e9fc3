/** The cells of the notebook that a view stands in, changed through the front end's own model. */

interface SharedCell {
  readonly cell_type: string;
  readonly execution_count?: number | null;
  readonly source: string;
  setSource(source: string): void;
}
interface SharedNotebook {
  readonly cells: readonly SharedCell[];
  insertCell(index: number, cell: Record<string, unknown>): unknown;
}
/** What of the widget manager of JupyterLab and Notebook 7 is used; other faces have no such context. */
interface Manager {
  context?: { model?: { sharedModel?: Partial<SharedNotebook> } };
}

/** A cell is named as `@cell3` or `In[3]`; "" is the one that asked. */
export interface Cells {
  source(cell: string): string | undefined;
  /** Put a new cell below; its index. */
  insert(cell: string, code: string): number | undefined;
  /** Change a cell; its index. */
  replace(cell: string, code: string): number | undefined;
  /** Start a cell as its Run button does; false where there is no way to. */
  run(index: number): Promise<boolean>;
}

const RUN = "notebook:run-cell";
const EDITOR = ".cm-content";
const ACTIVE = ".jp-mod-active";
const LOOKS = 40; // one each 25 ms, for what the page is about to show

/** Undefined where the notebook cannot be reached. */
export function cellsAround(manager: unknown, element: HTMLElement): Cells | undefined {
  const shared = (manager as Manager | undefined)?.context?.model?.sharedModel;
  if (!shared?.insertCell || !shared.cells) return undefined;
  return new NotebookCells(shared as SharedNotebook, element);
}

class NotebookCells implements Cells {
  constructor(
    private readonly notebook: SharedNotebook,
    private readonly element: HTMLElement,
  ) {}

  source(cell: string): string | undefined {
    return this.notebook.cells[this.index(cell)]?.source;
  }

  insert(cell: string, code: string): number | undefined {
    const index = this.index(cell);
    if (index < 0) return undefined;
    this.notebook.insertCell(index + 1, { cell_type: "code", source: code, metadata: {} });
    return index + 1;
  }

  replace(cell: string, code: string): number | undefined {
    const index = this.index(cell);
    this.notebook.cells[index]?.setSource(code);
    return index < 0 ? undefined : index;
  }

  async run(index: number): Promise<boolean> {
    const panel = this.element.closest(".jp-NotebookPanel");
    const button = panel?.querySelector<HTMLElement>(`[data-command^="${RUN}"]`);
    const cell = button && (await soon(() => this.nodeOf(index)));
    if (!button || !cell) return false;
    cell.querySelector<HTMLElement>(EDITOR)?.focus();
    const before = promptOf(cell);
    for (const event of ["mousedown", "click"]) {
      if (!(await soon(() => this.nodeOf(index) === cell && cell.matches(ACTIVE)))) return false;
      button.dispatchEvent(new MouseEvent(event, { bubbles: true, button: 0 }));
      if (await soon(() => promptOf(cell) !== before || !cell.matches(ACTIVE))) return true;
    }
    return false;
  }

  private index(cell: string): number {
    const number = /(\d+)\]?$/.exec(cell)?.[1];
    if (!number) return this.own();
    return this.notebook.cells.findIndex((one) => one.execution_count === Number(number));
  }

  /** The cell that the view stands in; of a view beside the notebook, the last one. */
  private own(): number {
    const cell = this.element.closest(".jp-Cell");
    return cell ? this.indexOf(cell) : this.notebook.cells.length - 1;
  }

  private indexOf(node: Element): number {
    const index = (node as HTMLElement).dataset["windowedListIndex"];
    return index ? Number(index) : this.nodes().indexOf(node);
  }

  private nodes(): Element[] {
    return [...(this.element.closest(".jp-Notebook")?.querySelectorAll(".jp-Cell") ?? [])];
  }

  /** The page may still show another cell at this place: only the one with its source is meant. */
  private nodeOf(index: number): Element | undefined {
    const source = this.notebook.cells[index]?.source ?? "";
    return this.nodes().find((one) => this.indexOf(one) === index && showsSource(one, source));
  }
}

/** As far as the editor has drawn it. */
function showsSource(cell: Element, source: string): boolean {
  const drawn = cell.querySelector(EDITOR)?.textContent?.replace(/\s/g, "");
  return Boolean(drawn) && source.replace(/\s/g, "").includes(drawn ?? "");
}

function promptOf(cell: Element): string {
  return cell.querySelector(".jp-InputPrompt")?.textContent ?? "";
}

async function soon<T>(look: () => T | undefined): Promise<T | undefined> {
  for (let count = 0; count < LOOKS; count += 1) {
    const seen = look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return undefined;
}
