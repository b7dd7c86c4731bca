; registries - where package managers fetch from. network.registries = off connects to none of them
; unasked. A host that takes uploads from anybody (a paste site, a bucket) is not on the list.
[profile]
	summary = package registries and release servers
[rule "registries"]
	; npm, yarn, pnpm; node's headers for native modules; deno and JSR
	allow = connect registry.npmjs.org:443
	allow = connect registry.yarnpkg.com:443
	allow = connect repo.yarnpkg.com:443
	allow = connect nodejs.org:443
	allow = connect jsr.io:443
	allow = connect npm.jsr.io:443
	allow = connect deno.land:443
	allow = connect dl.deno.land:443
	; PyPI
	allow = connect pypi.org:443
	allow = connect files.pythonhosted.org:443
	; conda
	allow = connect conda.anaconda.org:443
	allow = connect repo.anaconda.com:443
	; crates.io and rustup
	allow = connect index.crates.io:443
	allow = connect static.crates.io:443
	allow = connect static.rust-lang.org:443
	; Go: modules and their checksums
	allow = connect proxy.golang.org:443
	allow = connect sum.golang.org:443
	; Maven Central, Gradle and its plug-ins, Google's repository, Kotlin/Native
	allow = connect repo.maven.apache.org:443
	allow = connect repo1.maven.org:443
	allow = connect plugins.gradle.org:443
	allow = connect plugins-artifacts.gradle.org:443
	allow = connect services.gradle.org:443
	allow = connect downloads.gradle.org:443
	allow = connect maven.google.com:443
	allow = connect dl.google.com:443
	allow = connect download.jetbrains.com:443
	allow = connect repo.scala-sbt.org:443
	; RubyGems
	allow = connect rubygems.org:443
	allow = connect index.rubygems.org:443
	; .NET
	allow = connect api.nuget.org:443
	; PHP
	allow = connect repo.packagist.org:443
	allow = connect getcomposer.org:443
	; Elixir, Erlang
	allow = connect repo.hex.pm:443
	allow = connect builds.hex.pm:443
	; Dart, Flutter
	allow = connect pub.dev:443
	; Haskell, OCaml, Julia
	allow = connect hackage.haskell.org:443
	allow = connect downloads.haskell.org:443
	allow = connect opam.ocaml.org:443
	allow = connect pkg.julialang.org:443
	; C and C++
	allow = connect center2.conan.io:443
	; Terraform
	allow = connect registry.terraform.io:443
	allow = connect releases.hashicorp.com:443
	; releases and archives that GitHub serves to package managers; git itself and the API are other hosts
	allow = connect codeload.github.com:443
	allow = connect objects.githubusercontent.com:443
	allow = connect release-assets.githubusercontent.com:443
	match = connect repo.maven.apache.org:443
	not-match = connect api.github.com:443
	not-match = connect github.com:443
