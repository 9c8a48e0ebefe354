#!/usr/bin/env bash
# Writes the verdict under the pull request, over the comment of the run before. A run
# without the permission, such as one of a fork, only warns.
set -euo pipefail
gh pr comment "$PULL_REQUEST" --body-file "$REPORTS/verdict.md" --edit-last --create-if-none ||
	echo "::warning::the verdict could not be written under the pull request; give the job the permission pull-requests: write"
