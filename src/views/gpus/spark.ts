// A small curve of the last minutes, with its name, the figure of now and the highest in words.
import { element, svgElement } from '../dom';
import type { History, Measure } from '../../model/gpus/history';
import { sparkPath } from '../../model/gpus/path';

/** What a curve shows besides its values. */
export interface ISparkFacts {
  readonly most: number;
  readonly now: number;
  /** The figure of now, as people read it. */
  readonly text: string;
  /** All of it in one sentence. */
  readonly description: string;
}

/** A curve from 0 to the most there can be. */
export class Spark {
  readonly node: HTMLElement;
  private readonly _line = svgElement('path', { class: 'memtrack-Spark-line' });
  private readonly _area = svgElement('path', { class: 'memtrack-Spark-area' });
  private readonly _figure = element('span', { class: 'memtrack-Spark-figure' });
  private readonly _picture = svgElement(
    'svg',
    {
      class: 'memtrack-Spark-picture',
      viewBox: '0 0 100 100',
      preserveAspectRatio: 'none',
      role: 'img'
    },
    this._area,
    this._line
  );

  constructor(
    private readonly _measure: Measure,
    name: string
  ) {
    this.node = element(
      'div',
      { class: `memtrack-Spark memtrack-mod-${_measure}` },
      element('div', { class: 'memtrack-Spark-caption' }, element('span', {}, name), this._figure),
      this._picture
    );
  }

  update(history: History, { most, now, text, description }: ISparkFacts): void {
    const { line, area } = sparkPath(history.stretches(this._measure), now, history.spanMs, most);
    this._line.setAttribute('d', line);
    this._area.setAttribute('d', area);
    this._figure.textContent = text;
    this._picture.setAttribute('aria-label', description);
  }
}
