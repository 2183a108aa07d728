// The state of the devices in one request, or why the server has none to tell.
import { ServerConnection } from '@jupyterlab/services';

import { PACKAGE_VERSION } from '../base/version';
import type { IServerProblem } from '../model/gpus/model';
import { decodeGpus } from '../wire/decodegpus';
import { WireError } from '../wire/errors';
import type { IGpuState } from '../wire/gpus';
import { loadServerInfo } from './info';
import { requestJson } from './request';

/** A state, or the problem that there is none. */
export type GpuAnswer = { readonly state: IGpuState } | { readonly problem: IServerProblem };

/** Asks once for the state of the devices. Never rejects. */
export async function loadGpus(settings: ServerConnection.ISettings): Promise<GpuAnswer> {
  try {
    return { state: decodeGpus(await requestJson(settings, 'gpus')) };
  } catch (error) {
    return { problem: await problemOf(error, settings) };
  }
}

/** Reads one message of the stream. */
export function readGpus(text: string): GpuAnswer {
  try {
    return { state: decodeGpus(JSON.parse(text)) };
  } catch (error) {
    return { problem: notUnderstood(error) };
  }
}

async function problemOf(
  error: unknown,
  settings: ServerConnection.ISettings
): Promise<IServerProblem> {
  if (error instanceof ServerConnection.ResponseError) {
    const { status } = error.response;
    if (status === 404) {
      return withoutRoute(settings);
    }
    if (status === 401 || status === 403) {
      return { id: 'forbidden', detail: error.message };
    }
    return { id: 'unreachable', detail: `${status} ${error.message}` };
  }
  return error instanceof WireError || error instanceof SyntaxError
    ? notUnderstood(error)
    : { id: 'unreachable', detail: messageOf(error) };
}

/** The route is not there: the server half is older than this page, or is not there at all. */
async function withoutRoute(settings: ServerConnection.ISettings): Promise<IServerProblem> {
  try {
    const info = await loadServerInfo(settings);
    if (info === undefined) {
      return { id: 'missing', detail: '' };
    }
    return { id: 'old', detail: info.version };
  } catch (error) {
    return { id: 'unreachable', detail: messageOf(error) };
  }
}

function notUnderstood(error: unknown): IServerProblem {
  const isVersion = error instanceof WireError && error.kind === 'version';
  const detail = isVersion ? `${messageOf(error)} (${PACKAGE_VERSION})` : messageOf(error);
  return { id: isVersion ? 'version' : 'understood', detail };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
