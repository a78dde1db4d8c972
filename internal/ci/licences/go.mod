module github.com/docmodel/docmodel/internal/ci/licences

go 1.25.0

require github.com/google/licensecheck v0.3.1
