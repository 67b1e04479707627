// What the first page asks for, asked while the modules that show it are on their way.

import { lookOf, parse, pictureAt, settled } from "./address.js";
import { ahead } from "./api.js";

ahead("session").then((session) => {
  const place = settled(session, parse(location.hash));
  if (place.page === "graph") ahead(`${pictureAt(place)}/scene`, lookOf(place));
}, () => undefined); // the page asks again, and says what is wrong
