// What a kernel says after it was asked to give memory back.
import { decodeText } from './decodeanswers';
import { Fields } from './fields';
import type { Text } from './report';

/** What went, in bytes over all devices, and the same as `%memtrack free` tells it; or a refusal. */
export type FreeAnswer =
  { readonly bytes: number; readonly text: string } | { readonly refused: Text };

/** Returns the answer in a message of a kernel; undefined for a message of another kind. */
export function readFreeAnswer(json: unknown): FreeAnswer | undefined {
  const fields = Fields.of(json, '');
  if (fields.has('refused')) {
    return { refused: decodeText(fields.value('refused'), 'refused') };
  }
  if (!fields.has('freed')) {
    return undefined;
  }
  const freed = fields.fields('freed');
  const devices = freed.has('devices')
    ? freed.list('devices', (value, where) => Fields.of(value, where).integer('released', 0))
    : [];
  return {
    bytes: devices.reduce((sum, bytes) => sum + bytes, 0),
    text: freed.has('text') ? freed.string('text') : ''
  };
}
