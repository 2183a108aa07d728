import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier/flat';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/',
      '.venv*/',
      '.memtrack/',
      'build/',
      'coverage/',
      'dist/',
      'lib/',
      'python_pkg/memtrack/labextension/',
      'python_pkg/memtrack/nbextension/index.js',
      'ui-tests/playwright-report/',
      'ui-tests/test-results/'
    ]
  },
  ...jupyter.configs.recommended,
  {
    files: ['**/*.{js,cjs,mjs,ts,tsx}'],
    extends: [js.configs.recommended],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules: {
      curly: ['error', 'all'],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': ['error', { allow: ['warn', 'error'] }],
      'prefer-arrow-callback': 'error'
    }
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false }
      ],
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      // A class and a namespace of the same name that holds its options: the way of JupyterLab.
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none' }]
    }
  },
  {
    files: ['scripts/**', '**/*.config.{js,cjs,mjs}', 'ui-tests/**/*.js'],
    rules: { 'no-console': 'off' }
  },
  {
    // Loaded by RequireJS as it is.
    files: ['python_pkg/memtrack/nbextension/*.js'],
    languageOptions: { sourceType: 'script', globals: globals.amd }
  },
  {
    // No text that people read: a category there is one of memory, not one of the command palette.
    files: ['src/{base,wire,model}/**'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  {
    // With the lengths of files and of Python functions, see scripts/check_sizes.py.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['**/__tests__/**'],
    rules: { 'max-lines-per-function': ['error', { max: 80 }] }
  },
  { files: ['**/*.spec.{ts,tsx}'], languageOptions: { globals: globals.jest } },
  prettier
);
