// A line that says what happened until something else does, with one thing to do about it.
import { button, element } from '../dom';

/** What can be done about it. */
export interface IRemedyButton {
  readonly label: string;
  readonly run: () => void;
}

/** The line; read aloud as it changes. */
export class Lasting {
  readonly node = element('div', { class: 'memtrack-History-status', role: 'status' });

  /** Say `sentence`. */
  say(sentence: string, remedy?: IRemedyButton): void {
    this.node.replaceChildren(
      element('span', { dir: 'auto' }, sentence),
      ...(remedy === undefined
        ? []
        : [' ', button({ class: 'memtrack-Button' }, () => remedy.run(), remedy.label)])
    );
  }

  clear(): void {
    this.node.replaceChildren();
  }
}
