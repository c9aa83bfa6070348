# The Homebrew formula of Azimuth.
class Azimuth < Formula
  desc "UCI chess engine that plans in a learned space"
  homepage "https://github.com/@REPOSITORY@"
  arch = on_arch_conditional arm: "aarch64", intel: "x86_64"
  platform = on_system_conditional macos: "apple-darwin", linux: "unknown-linux-gnu"
  url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/azimuth-@VERSION@-#{arch}-#{platform}.tar.gz"
  version "@VERSION@"
  sha256 on_system_conditional(
    macos: "@SHA256 azimuth-@VERSION@-aarch64-apple-darwin.tar.gz@",
    linux: on_arch_conditional(
      arm:   "@SHA256 azimuth-@VERSION@-aarch64-unknown-linux-gnu.tar.gz@",
      intel: "@SHA256 azimuth-@VERSION@-x86_64-unknown-linux-gnu.tar.gz@",
    ),
  )
  license "GPL-3.0-or-later"

  on_macos do
    depends_on arch: :arm64
  end

  def install
    programs = %w[azimuth azimuth-bench azimuth-train azimuth-rivals]
    programs.each do |program|
      bash_completion.install "completions/#{program}.bash" => program
      zsh_completion.install "completions/#{program}.zsh" => "_#{program}"
      fish_completion.install "completions/#{program}.fish"
    end
    man1.install Dir["man/*"]
    # The programs read weights from the folder beside them.
    libexec.install Dir["*"]
    bin.write_exec_script(programs.map { |program| libexec/program })
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/azimuth --version")
    assert_match "bestmove", shell_output("#{bin}/azimuth go depth 4")
  end
end
