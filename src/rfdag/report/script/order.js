// The order as a strip of buttons.
const STRIP = 600;

function showOrder() {
  const strip = find("strip");
  const arrow = (at) => (content.compelled_next[at - 1] ? [make("span", { class: "compelled", text: "→" })] : []);
  const buttons = (from, to) => content.order.slice(from, to).flatMap((variable, at) => [...arrow(from + at), make("button", { type: "button", title: nameOf(variable), "data-variable": variable, "aria-pressed": "false", onclick: () => choose(variable) }, [make("small", { text: from + at + 1 }), make("span", { class: "name", text: shortened(content.names[variable], 32) })])]);
  strip.append(...buttons(0, STRIP));
  if (content.order.length > STRIP) {
    const more = make("button", { type: "button", text: `… and ${content.order.length - STRIP} more`, onclick: () => more.replaceWith(...buttons(STRIP)) });
    strip.append(more);
  }
  let pressed = null;
  listeners.push(() => {
    if (pressed) pressed.setAttribute("aria-pressed", "false");
    pressed = state.chosen === null ? null : strip.querySelector(`[data-variable="${state.chosen}"]`);
    if (pressed) pressed.setAttribute("aria-pressed", "true");
  });
}
