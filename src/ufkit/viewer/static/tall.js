// A scroll position among more pixels than an element can be high.

const TALLEST = 8_000_000; // pixels; browsers end at 17 to 33 millions

/**
 * Scrolls `height` pixels through a window of `view` with a bar that may be shorter. Small steps move
 * by as many pixels as the bar does; jumps go to the same share of the whole.
 */
export class Tall {
  constructor() {
    this.top = 0; // the first pixel that is seen
    this.scroll = 0; // of the element
    this.measure(0, 0);
  }

  measure(height, view) {
    this.view = view;
    this.bar = Math.min(height, TALLEST); // height of the element
    this.room = Math.max(0, height - view);
    this.way = Math.max(0, this.bar - view);
    this.top = Math.min(this.top, this.room);
  }

  /** The element was scrolled to there. */
  scrolled(scroll) {
    const step = scroll - this.scroll;
    this.scroll = scroll;
    if (this.room === this.way) this.top = scroll;
    else if (scroll <= 0) this.top = 0;
    else if (scroll >= this.way - 1) this.top = this.room;
    else if (Math.abs(step) <= this.view) this.top = Math.max(0, Math.min(this.room, this.top + step));
    else this.top = (scroll / this.way) * this.room;
    return this.top;
  }

  /** Go to a pixel; gives where the element has to be scrolled to. */
  goTo(top) {
    this.top = Math.max(0, Math.min(this.room, top));
    this.scroll = this.room ? Math.round((this.top / this.room) * this.way) : 0;
    return this.scroll;
  }
}
