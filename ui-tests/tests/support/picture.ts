// Pictures with a palette: a third of the bytes of a screenshot, with no difference to be seen.
import type { Locator, Page, PageScreenshotOptions } from '@playwright/test';
import fs from 'node:fs';
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const COLOURS = 256;
/** Colours that differ by less, summed over red, green and blue, share a place of the palette. */
const ALIKE = 9;

interface IPixels {
  readonly width: number;
  readonly height: number;
  /** Red × 65536 + green × 256 + blue, row after row. */
  readonly colours: Uint32Array;
}

/** Writes a screenshot of `view` to `file`. */
export async function takePicture(
  view: Locator | Page,
  file: string,
  options: Pick<PageScreenshotOptions, 'animations' | 'clip'> = {}
): Promise<void> {
  fs.writeFileSync(file, withPalette(pixelsOf(await view.screenshot(options))));
}

/** Reads a PNG of 8 bits a channel, as Chromium writes them; what is transparent is taken for opaque. */
function pixelsOf(png: Buffer): IPixels {
  const parts: Buffer[] = [];
  for (let at = SIGNATURE.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    }
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = png[25] === 6 ? 4 : 3;
  const bytes = inflateSync(Buffer.concat(parts));
  const line = width * channels;
  const colours = new Uint32Array(width * height);
  let above = new Uint8Array(line);
  for (let y = 0; y < height; y++) {
    const start = y * (line + 1);
    const row = new Uint8Array(bytes.subarray(start + 1, start + 1 + line));
    unfilter(bytes[start] ?? 0, row, above, channels);
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0] = row.subarray(x * channels, x * channels + 3);
      colours[y * width + x] = (red << 16) | (green << 8) | blue;
    }
    above = row;
  }
  return { width, height, colours };
}

/** Undoes filter `kind` of a line in place: https://www.w3.org/TR/png-3/#9Filters */
function unfilter(kind: number, row: Uint8Array, above: Uint8Array, channels: number): void {
  for (let at = 0; at < row.length; at++) {
    const left = row[at - channels] ?? 0;
    const up = above[at] ?? 0;
    const corner = above[at - channels] ?? 0;
    const guesses = [0, left, up, (left + up) >> 1, nearest(left, up, corner)];
    row[at] = (row[at] ?? 0) + (guesses[kind] ?? 0);
  }
}

function nearest(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function withPalette({ width, height, colours }: IPixels): Buffer {
  const counts = new Map<number, number>();
  colours.forEach(colour => counts.set(colour, (counts.get(colour) ?? 0) + 1));
  const palette: number[] = [];
  for (const [colour] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (palette.length < COLOURS && palette.every(other => distance(colour, other) >= ALIKE)) {
      palette.push(colour);
    }
  }
  const places = new Map([...counts.keys()].map(colour => [colour, closest(palette, colour)]));
  const lines = Buffer.alloc(height * (width + 1));
  colours.forEach((colour, at) => {
    lines[at + Math.floor(at / width) + 1] = places.get(colour) ?? 0;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0))
  ]);
}

function closest(palette: readonly number[], colour: number): number {
  let best = 0;
  palette.forEach((other, place) => {
    if (distance(colour, other) < distance(colour, palette[best] ?? 0)) {
      best = place;
    }
  });
  return best;
}

function distance(one: number, other: number): number {
  const [a, b] = [channelsOf(one), channelsOf(other)];
  return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]);
}

function channelsOf(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
