// What the server half says of itself.
import { ServerConnection } from '@jupyterlab/services';

import { requestJson } from './request';

/** The server half's own description. */
export interface IServerInfo {
  /** The version of the Python package on the server. */
  readonly version: string;
}

/** Ask the server half for its version; undefined when it is not installed or not enabled. */
export async function loadServerInfo(
  settings: ServerConnection.ISettings
): Promise<IServerInfo | undefined> {
  let answer: unknown;
  try {
    answer = await requestJson(settings, 'info');
  } catch (error) {
    if (error instanceof ServerConnection.ResponseError && error.response.status === 404) {
      return undefined;
    }
    throw error;
  }
  return isServerInfo(answer) ? answer : undefined;
}

function isServerInfo(value: unknown): value is IServerInfo {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    typeof value.version === 'string'
  );
}
