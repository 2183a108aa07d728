import { ServerConnection } from '@jupyterlab/services';

import { loadServerInfo } from '../info';

/** Settings of a server at a base URL that answers each request in the same way. */
function serverThatAnswers(status: number, body: unknown) {
  const asked: string[] = [];
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://localhost/user/ada/',
    fetch: request => {
      asked.push(request instanceof Request ? request.url : String(request));
      return Promise.resolve(new Response(JSON.stringify(body), { status }));
    }
  });
  return { asked, settings };
}

describe('loadServerInfo', () => {
  it('asks below the base URL of the server', async () => {
    const { asked, settings } = serverThatAnswers(200, { version: '1.2.3' });
    await loadServerInfo(settings);
    expect(asked.map(url => new URL(url).pathname)).toEqual(['/user/ada/memtrack/api/info']);
  });

  it('gives the version that the server tells', async () => {
    const { settings } = serverThatAnswers(200, { version: '1.2.3' });
    expect(await loadServerInfo(settings)).toEqual({ version: '1.2.3' });
  });

  it('gives nothing where the server half is missing', async () => {
    const { settings } = serverThatAnswers(404, { message: 'Not Found' });
    expect(await loadServerInfo(settings)).toBeUndefined();
  });

  it('gives nothing for an answer of another shape', async () => {
    const { settings } = serverThatAnswers(200, { version: 3 });
    expect(await loadServerInfo(settings)).toBeUndefined();
  });

  it('passes on every other failure', async () => {
    const { settings } = serverThatAnswers(500, { message: 'broken' });
    await expect(loadServerInfo(settings)).rejects.toThrow('broken');
  });
});
