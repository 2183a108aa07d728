// The catalogues of python_pkg/memtrack/locale, as the AMD build finds them.
declare module 'memtrack-locale/*.json' {
  const catalogue: Readonly<Record<string, unknown>>;
  export default catalogue;
}
