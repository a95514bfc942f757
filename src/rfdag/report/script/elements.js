// The page's elements: made and filled here, and never from text that is parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";
const content = JSON.parse(document.getElementById("content").textContent);
const find = (id) => document.getElementById(id);

function put(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...(children || []));
  return element;
}

const make = (tag, attributes, children) => put(document.createElement(tag), attributes, children);
const draw = (tag, attributes, children) => put(document.createElementNS(SVG, tag), attributes, children);

function shown(text) {
  // Control characters have no picture and no place in XML.
  return text.trim() === "" ? JSON.stringify(text) : text.replace(/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/g, "\ufffd");
}

function shortened(text, longest = 18) {
  const letters = Array.from(shown(text));
  if (letters.length <= longest) return letters.join("");
  const tail = Math.floor(((longest - 1) * 2) / 5);
  return letters.slice(0, longest - 1 - tail).join("") + "…" + letters.slice(-tail).join("");
}

const nameOf = (variable) => shown(content.names[variable]);
const named = (variable) => make("span", { class: "name", text: nameOf(variable) });

function figure(number) {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number)) return String(number).replace("-", "−");
  const size = Math.abs(number);
  return (size !== 0 && (size < 1e-3 || size >= 1e6) ? number.toExponential(2) : Number(number.toPrecision(4)).toString()).replace("-", "−");
}

const percent = (share) => `${Math.round(100 * share)} %`;

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

// A table; headings are strings, or [string, "number"] for columns of numbers; cells are text or elements.
function tableOf(headings, rows) {
  const numeric = headings.map((heading) => Array.isArray(heading));
  const head = headings.map((heading, at) => make("th", { scope: "col", class: numeric[at] && "number", text: numeric[at] ? heading[0] : heading }));
  const body = rows.map((row) => make("tr", {}, row.map((cell, at) => make("td", { class: numeric[at] && "number" }, [cell]))));
  return make("div", { class: "scroll" }, [make("table", {}, [make("thead", {}, [make("tr", {}, head)]), make("tbody", {}, body)])]);
}

function link(variable) {
  return make("button", { type: "button", class: "link name", text: nameOf(variable), onclick: () => choose(variable) });
}

function save(blob, file) {
  const address = URL.createObjectURL(blob);
  const anchor = make("a", { href: address, download: file });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
