; toolchains - directories of the home folder in which tools keep caches, settings and programs. Each
; shows inside as it is on the host; what the agent changes there stays with the folder, and nothing of
; the host changes (cordon-config(5), HOMES OF TOOLS). Where that is not possible, the variable behind
; it leads to $CORDON_CACHE. A `/` at the end: a directory of many programs, which begins empty.
; Secrets in them do not show: core/policy/builtin/hidden.c. Another one: tool-home in your own settings.
[profile]
	summary = homes of tools: ~/.cargo, ~/.m2, ~/.cache and the like
[sandbox]
	tool-home = ~/.cache/ XDG_CACHE_HOME=$CORDON_CACHE/xdg
	; Rust. A moved ~/.rustup would have no tool chain: where it cannot show, it is read-only
	tool-home = ~/.cargo CARGO_HOME=$CORDON_CACHE/cargo
	tool-home = ~/.rustup
	tool-home = ~/.cache/sccache SCCACHE_DIR=$CORDON_CACHE/sccache
	; Java, Scala, Kotlin
	tool-home = ~/.gradle GRADLE_USER_HOME=$CORDON_CACHE/gradle
	tool-home = ~/.m2 MAVEN_OPTS=-Dmaven.repo.local=$CORDON_CACHE/m2
	tool-home = ~/.ivy2
	tool-home = ~/.sbt
	tool-home = ~/.konan KONAN_DATA_DIR=$CORDON_CACHE/konan
	; preferences of java.util.prefs (jshell); those of other programs stay out
	tool-home = ~/.java/
	tool-home = ~/.cache/coursier COURSIER_CACHE=$CORDON_CACHE/coursier
	; Ruby
	tool-home = ~/.gem
	tool-home = ~/.local/share/gem GEM_HOME=$CORDON_CACHE/gem
	tool-home = ~/.bundle BUNDLE_USER_HOME=$CORDON_CACHE/bundle
	; JavaScript
	tool-home = ~/.npm npm_config_cache=$CORDON_CACHE/npm
	tool-home = ~/.yarn YARN_GLOBAL_FOLDER=$CORDON_CACHE/yarn-berry
	tool-home = ~/.cache/yarn YARN_CACHE_FOLDER=$CORDON_CACHE/yarn
	tool-home = ~/.config/yarn
	tool-home = ~/.config/configstore
	tool-home = ~/.cache/node COREPACK_HOME=$CORDON_CACHE/corepack
	; pnpm looks for a store on the file system of the project, which is the project itself inside. npm warns
	; of variables npm_config_ that it does not know, so pnpm 10 and older are not told
	tool-home = ~/.local/share/pnpm
	tool-home = ~/.local/share/pnpm/store +pnpm_config_store_dir=$CORDON_CACHE/pnpm
	tool-home = ~/.cache/pnpm
	tool-home = ~/.local/state/pnpm
	tool-home = ~/.bun BUN_INSTALL_CACHE_DIR=$CORDON_CACHE/bun
	tool-home = ~/.deno
	tool-home = ~/.cache/deno DENO_DIR=$CORDON_CACHE/deno
	tool-home = ~/.cache/node-gyp npm_config_devdir=$CORDON_CACHE/node-gyp
	tool-home = ~/.cache/electron ELECTRON_CACHE=$CORDON_CACHE/electron
	tool-home = ~/.cache/electron-builder
	tool-home = ~/.cache/Cypress CYPRESS_CACHE_FOLDER=$CORDON_CACHE/Cypress
	tool-home = ~/.cache/puppeteer PUPPETEER_CACHE_DIR=$CORDON_CACHE/puppeteer
	tool-home = ~/.cache/ms-playwright PLAYWRIGHT_BROWSERS_PATH=$CORDON_CACHE/ms-playwright
	tool-home = ~/.cache/typescript
	; Python
	tool-home = ~/.cache/pip PIP_CACHE_DIR=$CORDON_CACHE/pip
	tool-home = ~/.cache/uv UV_CACHE_DIR=$CORDON_CACHE/uv
	tool-home = ~/.local/share/uv
	tool-home = ~/.cache/pypoetry POETRY_CACHE_DIR=$CORDON_CACHE/pypoetry
	tool-home = ~/.cache/pdm
	tool-home = ~/.cache/pre-commit PRE_COMMIT_HOME=$CORDON_CACHE/pre-commit
	tool-home = ~/.cache/huggingface HF_HOME=$CORDON_CACHE/huggingface
	tool-home = ~/.cache/torch TORCH_HOME=$CORDON_CACHE/torch
	tool-home = ~/.local/share/virtualenvs WORKON_HOME=$CORDON_CACHE/virtualenvs
	tool-home = ~/.conda CONDA_PKGS_DIRS=$CORDON_CACHE/conda
	tool-home = ~/.pixi
	tool-home = ~/.cache/rattler RATTLER_CACHE_DIR=$CORDON_CACHE/rattler
	tool-home = ~/.rye
	; Go. ~/go/src holds projects, and stays as it is
	tool-home = ~/go/pkg GOMODCACHE=$CORDON_CACHE/go-mod
	tool-home = ~/go/bin
	tool-home = ~/.config/go
	tool-home = ~/.cache/go-build GOCACHE=$CORDON_CACHE/go-build
	tool-home = ~/.cache/golangci-lint GOLANGCI_LINT_CACHE=$CORDON_CACHE/golangci-lint
	tool-home = ~/.cache/gopls
	tool-home = ~/.cache/goimports
	tool-home = ~/.cache/staticcheck
	; PHP, .NET, Elixir and Erlang, Dart
	tool-home = ~/.composer
	tool-home = ~/.config/composer COMPOSER_HOME=$CORDON_CACHE/composer-home
	tool-home = ~/.local/share/composer
	tool-home = ~/.cache/composer COMPOSER_CACHE_DIR=$CORDON_CACHE/composer
	tool-home = ~/.nuget NUGET_PACKAGES=$CORDON_CACHE/nuget
	tool-home = ~/.local/share/NuGet
	tool-home = ~/.dotnet DOTNET_CLI_HOME=$CORDON_CACHE/dotnet
	tool-home = ~/.hex HEX_HOME=$CORDON_CACHE/hex
	tool-home = ~/.mix MIX_HOME=$CORDON_CACHE/mix
	tool-home = ~/.cache/rebar3 REBAR_CACHE_DIR=$CORDON_CACHE/rebar3
	tool-home = ~/.pub-cache PUB_CACHE=$CORDON_CACHE/pub-cache
	; Haskell, OCaml, Julia
	tool-home = ~/.cabal CABAL_DIR=$CORDON_CACHE/cabal
	tool-home = ~/.cache/cabal
	tool-home = ~/.local/state/cabal
	tool-home = ~/.stack STACK_ROOT=$CORDON_CACHE/stack
	tool-home = ~/.ghcup
	tool-home = ~/.opam
	tool-home = ~/.julia JULIA_DEPOT_PATH=$CORDON_CACHE/julia
	; C and C++, Android, Terraform, Zig, Bazel
	tool-home = ~/.ccache
	tool-home = ~/.cache/ccache CCACHE_DIR=$CORDON_CACHE/ccache
	tool-home = ~/.conan2 CONAN_HOME=$CORDON_CACHE/conan2
	tool-home = ~/.cache/vcpkg VCPKG_DEFAULT_BINARY_CACHE=$CORDON_CACHE/vcpkg
	tool-home = ~/.cache/clangd
	tool-home = ~/.android ANDROID_USER_HOME=$CORDON_CACHE/android
	tool-home = ~/.terraform.d
	tool-home = ~/.cache/zig ZIG_GLOBAL_CACHE_DIR=$CORDON_CACHE/zig
	tool-home = ~/.cache/bazel
	tool-home = ~/.cache/bazelisk
	tool-home = ~/.cache/nix
	; editors: swap files, undo files, plug-ins
	tool-home = ~/.vim
	tool-home = ~/.local/share/nvim
	tool-home = ~/.local/state/nvim
	tool-home = ~/.cache/nvim
