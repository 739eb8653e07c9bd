//go:build !darwin

package watch

// defaultFolders leaves room for others: Linux has 8,192 watches a user where nobody set
// more.
const defaultFolders = 4096
