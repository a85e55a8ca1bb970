use super::commands;

#[test]
fn only_commands_in_shell_blocks_are_tried() {
    let readme = "cargo xtask no\n```sh\ncargo xtask demo\n```\n`cargo xtask no`\n```rust\n\
                  cargo xtask no\n```\n```sh\ncargo xtask ci\ncargo build\n```\n";
    assert_eq!(commands(readme), ["cargo xtask demo", "cargo xtask ci"]);
}
