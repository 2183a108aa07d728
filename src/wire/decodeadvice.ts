// The member `advice` of a report's payload to an `IAdvice`.
import type { IAdvice, IAdvisedRemedy, ICombination } from './advice';
import { COST_CLASSES, EVIDENCE } from './advice';
import { decodeCode, decodeText } from './decodeanswers';
import { malformed } from './errors';
import { Fields, asString } from './fields';

/** Decodes advice; throws `WireError` for what is not laid out as promised. */
export function decodeAdvice(fields: Fields): IAdvice {
  const base = fields.fields('base');
  const remedies = fields.list('remedies', (value, where) => remedyOf(Fields.of(value, where)));
  const ids = new Set(remedies.map(({ id }) => id));
  return {
    budget: fields.optionalInteger('budget', 0),
    peak: base.integer('peak', 0),
    reserved: base.optionalInteger('reserved', 0),
    remedies,
    combinations: fields.list('combinations', (value, where) =>
      combinationOf(Fields.of(value, where), ids)
    )
  };
}

function remedyOf(fields: Fields): IAdvisedRemedy {
  const evidence = fields.string('evidence');
  const costClass = fields.string('cost_class');
  return {
    id: fields.string('id'),
    title: textOf(fields, 'title'),
    applies: fields.flag('applies'),
    why: textOf(fields, 'why'),
    saving: fields.optionalInteger('saving', -Number.MAX_SAFE_INTEGER),
    peak: fields.optionalInteger('peak', 0),
    low: fields.optionalInteger('low', 0),
    high: fields.optionalInteger('high', 0),
    reserved: fields.optionalInteger('reserved', 0),
    // What a later version calls otherwise is told as not known, or as the dearest.
    evidence: EVIDENCE.find(each => each === evidence) ?? 'unknown',
    cost: textOf(fields, 'cost'),
    costClass: COST_CLASSES.find(each => each === costClass) ?? 'high',
    harm: fields.has('harm') ? fields.number('harm') : undefined,
    caveats: fields.list('caveats', decodeText),
    code: decodeCode(fields, fields.string('code'))
  };
}

function combinationOf(fields: Fields, known: ReadonlySet<string>): ICombination {
  const ids = fields.list('ids', asString);
  const stranger = ids.find(id => !known.has(id));
  if (stranger !== undefined) {
    throw malformed(fields.placeOf('ids'), `there is no remedy "${stranger}"`);
  }
  return {
    ids,
    peak: fields.integer('peak', 0),
    saving: fields.integer('saving', -Number.MAX_SAFE_INTEGER),
    reserved: fields.optionalInteger('reserved', 0),
    fits: fields.flag('fits')
  };
}

function textOf(fields: Fields, key: string): IAdvisedRemedy['title'] {
  return decodeText(fields.value(key), fields.placeOf(key));
}
