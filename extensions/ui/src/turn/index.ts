/** The live view of a turn, as an anywidget module. */

import type { AnyModel } from "@anywidget/types";
import { mount, unmount } from "svelte";
import "../../../../octo_lab/notebook/turn.css";
import "../view/live.css";
import Turn from "./Turn.svelte";

function render({ model, el }: { model: AnyModel; el: HTMLElement }) {
  const view = mount(Turn, { target: el, props: { channel: model } });
  return () => void unmount(view);
}

export default { render };
