// Browsers start no worker for a page that was opened as a file. The site's search runs in one, so that such pages get
// a worker that lives in a hidden frame. The plugin "offline" looks for a script of this name before it takes another
// from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.document.open();
      this.inside.document.write("<!doctype html><title>search</title>");
      this.inside.document.close();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      script.src = address;
      this.loaded = new Promise((done) => script.addEventListener("load", done));
      this.inside.document.head.append(script);
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
