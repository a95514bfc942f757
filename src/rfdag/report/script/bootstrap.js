// How often runs on resampled rows have each edge, and where each variable stands in their orders.
function showBootstrap() {
  const body = find("bootstrap-body");
  if (boot === null) {
    body.append(make("p", { class: "hint", text: "No bootstrap was given. rfdag.bootstrap(…).report(…), or rfdag bootstrap DATA --report FILE, shows how often each edge is found again on resampled rows." }));
    return;
  }
  body.append(make("p", { text: `${counted(boot.runs, "run")}, ${boot.drawn}. The graph, the table of edges and the order show how much of this result they found again.` }));
  body.append(make("p", { class: "hint", text: "A run counts for an arrow if its equivalence class has it; an edge that most runs leave undirected is stable, though its direction is not known. A frequency is not the probability that an edge is true: a stable answer can be wrong, for example if a common cause was not measured, and directions are wrong more often than pairs." }));
  const frequent = boot.adjacent.filter((share) => share >= 0.9).length;
  body.append(make("p", { text: `Of ${counted(count, "edge")}, ${frequent} ${frequent === 1 ? "is" : "are"} found in 90 % of the runs or more.` }));
  body.append(make("h3", { text: `Pairs that are adjacent in ${percent(boot.often)} of the runs or more, but not in this graph` }));
  if (!boot.absent.length) {
    body.append(make("p", { class: "hint", text: "None." }));
    return;
  }
  body.append(tableOf(["pair", "", ["adjacent", 1], ["→", 1], ["←", 1]], boot.absent.map(([first, second, share, forth, back]) => [link(first), link(second), percent(share), percent(forth), percent(back)])));
}
