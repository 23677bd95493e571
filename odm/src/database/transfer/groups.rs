//! The order in which documents that refer to each other are stored.

/// Topologically sorts the strongly connected components: the groups of documents that name each other directly or indirectly, and are
/// stored together. A document in no cycle is a group by itself. `named` has, for each document, the positions of the documents that it
/// names.
///
/// This is Tarjan's algorithm, without recursion: a chain can be long.
pub(super) fn sources_first(named: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut groups = Vec::new();
    // The number of each document in the order of the visits, and the least known number in its group.
    let mut number: Vec<Option<usize>> = vec![None; named.len()];
    let mut least = vec![0; named.len()];
    let mut next = 0;
    // The visited documents that are in no group yet.
    let mut open = Vec::new();
    let mut is_open = vec![false; named.len()];
    for start in 0..named.len() {
        // The path from the start, with the number of visited successors of each document.
        let mut way = match number[start] {
            None => vec![(start, 0)],
            Some(_) => continue,
        };
        while let Some((at, passed)) = way.last_mut() {
            let at = *at;
            let own = *number[at].get_or_insert_with(|| {
                least[at] = next;
                next += 1;
                open.push(at);
                is_open[at] = true;
                least[at]
            });
            if let Some(&to) = named[at].get(*passed) {
                *passed += 1;
                match number[to] {
                    None => way.push((to, 0)),
                    Some(other) if is_open[to] => least[at] = least[at].min(other),
                    Some(_) => {}
                }
                continue;
            }
            way.pop();
            if let Some((before, _)) = way.last() {
                least[*before] = least[*before].min(least[at]);
            }
            if least[at] == own {
                let first = open.iter().rposition(|&member| member == at);
                let mut group = open.split_off(first.unwrap_or_default());
                group.iter().for_each(|&member| is_open[member] = false);
                group.sort_unstable();
                groups.push(group);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sources_first;

    /// Whether one names another, directly or indirectly.
    fn reaches(named: &[Vec<usize>], from: usize, to: usize) -> bool {
        let (mut seen, mut left) = (vec![false; named.len()], named[from].clone());
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                left.extend(&named[at]);
            }
        }
        seen[to]
    }

    fn graph() -> impl Strategy<Value = Vec<Vec<usize>>> {
        (1..9_usize).prop_flat_map(|count| {
            let named = prop::collection::vec(0..count, 0..3);
            prop::collection::vec(named, count)
        })
    }

    proptest! {
        #[test]
        fn a_group_is_those_that_name_each_other_and_comes_after_all_that_they_name(named in graph()) {
            let groups = sources_first(&named);
            let mut group_of = vec![usize::MAX; named.len()];
            for (number, group) in groups.iter().enumerate() {
                prop_assert!(group.is_sorted());
                for &member in group {
                    prop_assert_eq!(group_of[member], usize::MAX);
                    group_of[member] = number;
                }
            }
            for one in 0..named.len() {
                prop_assert!(named[one].iter().all(|&other| group_of[other] <= group_of[one]));
                for other in 0..named.len() {
                    let is_cycle = one == other || (reaches(&named, one, other) && reaches(&named, other, one));
                    prop_assert_eq!(group_of[one] == group_of[other], is_cycle);
                }
            }
        }
    }

    #[test]
    fn a_long_chain_is_taken_from_its_end() {
        let count = 100_000;
        let named: Vec<Vec<usize>> = (1..=count)
            .map(|next| (next < count).then_some(next).into_iter().collect())
            .collect();
        let groups = sources_first(&named);
        assert!((0..count).rev().eq(groups.into_iter().flatten()));
    }
}
