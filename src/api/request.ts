// One request to the server half: a path under `memtrack/api` in, parsed JSON out, still unchecked.
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

/**
 * Ask the server half for JSON.
 *
 * @throws ServerConnection.ResponseError when the server answers with an error,
 *   ServerConnection.NetworkError when it does not answer.
 */
export async function requestJson(
  settings: ServerConnection.ISettings,
  path: string,
  init: RequestInit = {}
): Promise<unknown> {
  const url = URLExt.join(settings.baseUrl, 'memtrack', 'api', path);
  const response = await ServerConnection.makeRequest(url, init, settings);
  if (!response.ok) {
    throw await ServerConnection.ResponseError.create(response);
  }
  return response.json();
}
