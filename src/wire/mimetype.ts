// By itself, so that naming it does not load the decoder.

/** The MIME type of a report in an output. */
export const MIME_TYPE = 'application/vnd.memtrack.report.v1+json';

/** The MIME type of a plan in an output. */
export const PLAN_MIME_TYPE = 'application/vnd.memtrack.plan.v1+json';

/** The MIME type of the explanation of an error in an output. */
export const DIAGNOSIS_MIME_TYPE = 'application/vnd.memtrack.diagnosis.v1+json';

/** The MIME type of two runs compared in an output. */
export const COMPARISON_MIME_TYPE = 'application/vnd.memtrack.comparison.v1+json';

/** The MIME type of the kept runs in an output. */
export const HISTORY_MIME_TYPE = 'application/vnd.memtrack.history.v1+json';

/** The MIME type of several ranks of one run in an output. */
export const RANKS_MIME_TYPE = 'application/vnd.memtrack.ranks.v1+json';
