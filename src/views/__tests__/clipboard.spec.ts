import { copyText, saveFile } from '../clipboard';

describe('copyText', () => {
  const command = jest.fn();

  beforeEach(() => {
    Object.assign(document, { execCommand: command });
    command.mockReset();
  });

  afterEach(() => {
    Object.assign(navigator, { clipboard: undefined });
  });

  it('asks the browser’s clipboard first', async () => {
    const writeText = jest.fn(() => Promise.resolve());
    Object.assign(navigator, { clipboard: { writeText } });
    await expect(copyText('a\tb')).resolves.toBe(true);
    expect(writeText).toHaveBeenCalledWith('a\tb');
    expect(command).not.toHaveBeenCalled();
  });

  it.each([
    ['there is none', undefined],
    ['it is not allowed', { writeText: () => Promise.reject(new Error('not allowed')) }]
  ])('goes the older way when %s', async (_, clipboard) => {
    Object.assign(navigator, { clipboard });
    const given: string[] = [];
    command.mockImplementation(() => {
      const clipboardData = { setData: (_type: string, text: string) => given.push(text) };
      document.dispatchEvent(Object.assign(new Event('copy'), { clipboardData }));
      return true;
    });
    await expect(copyText('a\tb')).resolves.toBe(true);
    document.dispatchEvent(Object.assign(new Event('copy'), { clipboardData: undefined }));
    expect(given).toEqual(['a\tb']);
  });

  it('says when neither works', async () => {
    command.mockReturnValue(false);
    await expect(copyText('a')).resolves.toBe(false);
  });
});

describe('saveFile', () => {
  it('offers the text as a download and gives its address back', () => {
    jest.useFakeTimers();
    const links: string[] = [];
    const addresses = { createObjectURL: jest.fn(() => 'blob:1'), revokeObjectURL: jest.fn() };
    Object.assign(URL, addresses);
    const click = jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
      this: HTMLAnchorElement
    ) {
      links.push(`${this.download} ${this.href}`);
    });
    saveFile('layers.csv', 'a,b', 'text/csv');
    jest.runAllTimers();
    expect(links).toEqual(['layers.csv blob:1']);
    expect(addresses.revokeObjectURL).toHaveBeenCalledWith('blob:1');
    click.mockRestore();
    jest.useRealTimers();
  });
});
