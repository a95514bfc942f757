// The graph as text for other programs: copied, or saved as a file.
function copy(text) {
  const area = make("textarea", { "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  // A page from a file may not use the clipboard itself in every browser.
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

function showDownloads() {
  const message = find("copied");
  find("download-list").append(...content.downloads.map((form) => {
    const title = make("strong", { text: form.title });
    if (form.text === null) return make("li", {}, [title, make("span", { class: "hint", text: form.reason })]);
    const buttons = [
      make("button", { type: "button", class: "copy", text: "Copy", "aria-label": `Copy as ${form.title}`, onclick: () => { message.textContent = copy(form.text) ? `${form.title} is in the clipboard.` : "This browser does not allow copying; use Save."; } }),
      make("button", { type: "button", class: "save", text: "Save", "aria-label": `Save ${form.file}`, onclick: () => save(new Blob([form.text], { type: "text/plain;charset=utf-8" }), form.file) }),
    ];
    return make("li", {}, [title, ...buttons, make("span", { class: "hint", text: `${form.use} (${form.file})` })]);
  }));
  find("download-list").append(make("li", {}, [make("strong", { text: "PNG, SVG" }), make("span", { class: "hint", text: "The picture as it is filtered: by the buttons above the graph." })]));
}
