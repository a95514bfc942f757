// Everything once, from the top of the page to its end.
showHeader();
showOrder();
startPicture();
startEdges();
startPlayer();
showMarkov();
showBootstrap();
showTruth();
showKnowledge();
showEnvironments();
showHealth();
showDownloads();
showRun();
change({});
document.documentElement.dataset.ready = "true";
