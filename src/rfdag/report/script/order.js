// The order as a strip of buttons.
const STRIP = 600;

// The places of a variable in the runs of a bootstrap: a line over 90 % of them, with a dot at the median.
function placesOf(variable) {
  const wide = 64, at = (rank) => 3 + ((wide - 6) * (rank - 1)) / Math.max(content.order.length - 1, 1);
  const { lower, median, upper } = boot;
  return draw("svg", { class: "picture places", viewBox: `0 0 ${wide} 10`, "aria-hidden": "true" }, [
    draw("line", { class: "axis", x1: 3, x2: wide - 3, y1: 5, y2: 5, "stroke-opacity": 0.3 }),
    draw("line", { class: "interval", x1: at(lower[variable]) - 1, x2: at(upper[variable]) + 1, y1: 5, y2: 5 }),
    draw("circle", { class: "median", cx: at(median[variable]), cy: 5, r: 3 }),
  ]);
}

function placesInWords(variable) {
  return boot ? `: median place ${figure(boot.median[variable])}, in 90 % of the runs from ${figure(boot.lower[variable])} to ${figure(boot.upper[variable])}` : "";
}

function showOrder() {
  const strip = find("strip");
  const arrow = (at) => (content.compelled_next[at - 1] ? [make("span", { class: "compelled", text: "→" })] : []);
  const buttons = (from, to) => content.order.slice(from, to).flatMap((variable, at) => [...arrow(from + at), make("button", { type: "button", title: nameOf(variable) + placesInWords(variable), "data-variable": variable, "aria-pressed": "false", onclick: () => choose(variable) }, [make("small", { text: from + at + 1 }), make("span", { class: "name", text: shortened(content.names[variable], 32) }), ...(boot ? [placesOf(variable)] : [])])]);
  strip.append(...buttons(0, STRIP));
  if (content.order.length > STRIP) {
    const more = make("button", { type: "button", text: `… and ${content.order.length - STRIP} more`, onclick: () => more.replaceWith(...buttons(STRIP)) });
    strip.append(more);
  }
  if (boot) find("order-hint").textContent += " Lines show the places that a variable has in the orders of 90 % of the runs on resampled rows, dots the median.";
  let pressed = null;
  listeners.push(() => {
    if (pressed) pressed.setAttribute("aria-pressed", "false");
    pressed = state.chosen === null ? null : strip.querySelector(`[data-variable="${state.chosen}"]`);
    if (pressed) pressed.setAttribute("aria-pressed", "true");
  });
}
