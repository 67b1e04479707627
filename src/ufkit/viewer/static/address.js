// Where the user is, as the address has it, so that back, forward and copied links work.
//
//   #/0/graph/0?item=12&open=3,5   file 0, its picture 0, item 12 chosen, scopes 3 and 5 open

export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [file, page, picture] = path.split("/");
  const params = Object.fromEntries(new URLSearchParams(query));
  return { file: whole(file), page: page || "", picture: whole(picture), ...params };
}

export function href({ file, page, picture = 0, ...params }) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `#/${file}/${page}/${picture}${given.length ? `?${query}` : ""}`;
}

/** The place that is shown for one that was asked for: what is not there gives way to the first. */
export function settled(session, place) {
  const file = session.files[place.file] ?? session.files[0];
  const pages = pagesOf(session, file);
  const page = pages.includes(place.page) ? place.page : pages[0];
  const picture = Math.min(place.picture, Math.max(0, file.pictures.length - 1));
  return { ...place, file: file.number, page, picture };
}

/** The pages there are for a file; those about two files come first. */
export function pagesOf(session, file) {
  return [...session.pages, ...file.pages];
}

/** The route of the picture at a place. */
export function pictureAt({ file, picture }) {
  return `files/${file}/pictures/${picture}`;
}

/** How the place wants to have it: what routes of scenes and drawings are told. */
export function lookOf({ open, across, show }) {
  return { open, across, show };
}

/** Nothing chosen; a choice is spread over it. */
export const NOTHING = { item: undefined, scope: undefined, link: undefined };

/** What a link of a scene is called: the item or the closed scope at each of its ends, as in `12-s3`. */
export function linkName(scene, { from, to }) {
  return [from, to].map((at) => {
    const { scope, items } = scene.boxes[at];
    return scope === null ? items[0] : `s${scope}`;
  }).join("-");
}

/** The ends of a link of that name. */
export function endsOf(name) {
  const [from, to] = name.split("-");
  return { from, to };
}

function whole(text) {
  return /^\d{1,6}$/.test(text ?? "") ? Number(text) : 0;
}
