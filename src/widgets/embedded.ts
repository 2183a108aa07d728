// The services of a page without JupyterLab.
import chinese from 'memtrack-locale/zh_CN/LC_MESSAGES/memtrack.json';

import { Preferences } from '../model/preferences';
import { catalogueBundle } from './catalogue';
import type { IReportServices } from './report';

/** Returns the services of such a page, in the language of the browser. */
export function embeddedServices(
  languages: readonly string[] = navigator.languages
): IReportServices {
  const isChinese = (languages[0] ?? '').toLowerCase().startsWith('zh');
  return {
    trans: catalogueBundle(isChinese ? chinese : {}),
    language: isChinese ? 'zh_CN' : 'en',
    preferences: new Preferences(),
    liveReports: undefined
  };
}
