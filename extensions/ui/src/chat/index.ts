/** The chat panel, as an anywidget module. */

import type { AnyModel } from "@anywidget/types";
import katex from "katex";
import { mount, unmount } from "svelte";
import "../../../../octo_lab/notebook/turn.css";
import { useTypesetter } from "../text/math";
import "../view/live.css";
import "./chat.css";
import { cellsAround } from "../cells/cells";
import Chat from "./Chat.svelte";

useTypesetter((formula, displayMode) =>
  katex.renderToString(formula, { displayMode, output: "mathml", throwOnError: false }),
);

function render({ model, el }: { model: AnyModel; el: HTMLElement }) {
  const cells = () => cellsAround(model.widget_manager, el);
  const view = mount(Chat, { target: el, props: { channel: model, cells } });
  return () => void unmount(view);
}

export default { render };
