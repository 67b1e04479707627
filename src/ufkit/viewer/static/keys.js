// What a key is meant for.

/** Whether a key goes into a field. */
export function typing(event) {
  return /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
}
