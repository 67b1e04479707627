"""Models, nets and datasets as pages in the browser, and as pictures of graphs."""
