use super::*;

#[test]
fn numbers_have_no_gaps_and_every_file_is_listed() {
    for (place, migration) in POSTGRES.iter().enumerate() {
        assert_eq!(usize::try_from(migration.number).unwrap(), place + 1);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/postgres");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let listed: Vec<String> =
        POSTGRES.iter().map(|one| format!("{:04}_{}.sql", one.number, one.slug)).collect();
    assert_eq!(files, listed);
}

#[test]
fn migrations_name_no_schema() {
    for migration in POSTGRES {
        let lower = migration.sql.to_lowercase();
        for banned in ["set search_path", "create schema", "public."] {
            assert!(!lower.contains(banned), "{} has '{banned}'", migration.slug);
        }
    }
}
