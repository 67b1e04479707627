// What a graph is asked for as: the same words for the page and for what is asked before it is there.

/** The route of the picture at a place. */
export function pictureAt({ file, picture }) {
  return `files/${file}/pictures/${picture}`;
}

/** How the place wants to have it. */
export function lookOf({ open, names }) {
  return { open, names };
}
