/** The live view of a turn, as an anywidget module. */

import type { AnyModel } from "@anywidget/types";
import { mount, unmount } from "svelte";
import "../../../../octo_lab/notebook/turn.css";
import "../view/live.css";
import { cellsAround } from "../cells/cells";
import Turn from "./Turn.svelte";

function render({ model, el }: { model: AnyModel; el: HTMLElement }) {
  const cells = () => cellsAround(model.widget_manager, el);
  const view = mount(Turn, { target: el, props: { channel: model, cells } });
  return () => void unmount(view);
}

export default { render };
