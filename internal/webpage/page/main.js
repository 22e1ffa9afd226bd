document.title = "fbo";
