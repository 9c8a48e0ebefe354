package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The files of a release that a person reads.
const (
	changelogFile = "CHANGELOG.md"
	listingFile   = "docs/api.txt"
	promisedFile  = "docs/api-released.txt" // the listing of the last release, below a line with its version
)

const unreleasedHeading = "## Unreleased\n"

// prepare gives the changelog's newest section the version and a date, and keeps the
// listing of the API as the one that the version promises.
func prepare(root, version string, day time.Time) error {
	changelog, err := os.ReadFile(filepath.Join(root, changelogFile))
	if err != nil {
		return err
	}
	dated, err := dateChangelog(string(changelog), version, day)
	if err != nil {
		return err
	}
	listing, err := os.ReadFile(filepath.Join(root, listingFile))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, changelogFile), []byte(dated), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, promisedFile), []byte(promise(version, string(listing))), 0o644)
}

// dateChangelog turns the section Unreleased into the version's and opens a new one.
func dateChangelog(changelog, version string, day time.Time) (string, error) {
	if heading(version).MatchString(changelog) {
		return "", fmt.Errorf("%s has a section %s already", changelogFile, version)
	}
	before, section, found := strings.Cut(changelog, "\n"+unreleasedHeading)
	if !found {
		return "", fmt.Errorf("%s has no section %q; add it and write what changed into it", changelogFile, strings.TrimSpace(unreleasedHeading))
	}
	if text, _, _ := strings.Cut(section, "\n## "); strings.TrimSpace(text) == "" {
		return "", errors.New("the section Unreleased of " + changelogFile + " is empty; write what changed into it")
	}
	return fmt.Sprintf("%s\n%s\n## %s - %s\n%s", before, unreleasedHeading, version, day.Format(time.DateOnly), section), nil
}

// heading matches the heading of the version's section in the changelog.
func heading(version string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(version) + ` - \d{4}-\d{2}-\d{2}$`)
}

// promise returns the listing of the API under the version that promises it.
func promise(version, listing string) string { return version + "\n\n" + listing }

// checkPrepared returns what is missing in the files that prepare writes.
func checkPrepared(root, version string) error {
	changelog, err := os.ReadFile(filepath.Join(root, changelogFile))
	if err != nil {
		return err
	}
	if !heading(version).Match(changelog) {
		return fmt.Errorf("%s has no section %s with a date; run with -prepare and commit", changelogFile, version)
	}
	listing, err := os.ReadFile(filepath.Join(root, listingFile))
	if err != nil {
		return err
	}
	promised, err := os.ReadFile(filepath.Join(root, promisedFile))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if string(promised) != promise(version, string(listing)) {
		return fmt.Errorf("%s is not %s under the line %s; run with -prepare and commit", promisedFile, listingFile, version)
	}
	return nil
}
